import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts'
import { withDatabase } from '../support/database.ts'
import { accepted } from '../support/events.ts'
import { eventually } from '../support/eventually.ts'
import { query } from '../support/query.ts'
import { startTestSandbox, type TestSandbox } from '../support/sandbox.ts'
import { makeSellers, type OrderAddress, placeOrder, post } from './support.ts'

const stage = withDatabase()
let sandbox: TestSandbox
let daemon: TestDaemon
let writeSellers: (more: object) => Promise<void>
const stops: (() => Promise<unknown>)[] = []

beforeAll(async () => {
  sandbox = await startTestSandbox()
  stops.push(() => sandbox.stop())
  const [seller] = await makeSellers(sandbox, 'seller-limited')
  const sellersFile = path.join(sandbox.folder, 'limits.json')
  writeSellers = (more) => writeFile(sellersFile, JSON.stringify([{ ...seller, ...more }]))
  await writeSellers({ rateLimits: { 'orders.acknowledge': { tokens: 1, per: '1h' } } })
  daemon = await startTestDaemon({
    SELLERS_FILE: sellersFile,
    DATABASE_URL: stage.url,
    MARKETPLACE_URL: sandbox.url,
    POLL_ORDERS: '1s',
    REQUEST_TIMEOUT: '2s',
    SETTLE_TIME: '4s',
    LOG_LEVEL: 'debug',
  })
  stops.unshift(() => daemon.program.stop())
}, 120_000)
afterAll(async () => {
  for (const stop of stops) await stop()
})

/** How many commands are in which state, and how long the last of them waits, in seconds. */
const commands = async () =>
  (
    await query<{ confirmed: number; open: number; wait: number }>(
      stage.url,
      `SELECT count(*) FILTER (WHERE state = 'confirmed')::int AS confirmed, count(*) FILTER (WHERE state = 'pending')::int AS open,
         coalesce(max(extract(epoch FROM next_action_at - now())) FILTER (WHERE state = 'pending'), 0)::int AS wait FROM tallyman.commands`,
    )
  )[0]

test('a limit of a seller holds although the marketplace says that more are left, and a higher one counts at once', {
  timeout: 240_000,
}, async () => {
  const [first, second] = [await placeOrder(sandbox, 1, 'seller-limited'), await placeOrder(sandbox, 1, 'seller-limited')]
  // The first is answered, with 59 left, before the second asks.
  expect(await post(daemon, accepted(first))).toBe(202)
  await eventually(async () => expect(await commands()).toMatchObject({ confirmed: 1 }))
  expect(await post(daemon, accepted(second))).toBe(202)
  await eventually(async () => expect((await commands())?.wait).toBeGreaterThan(3_000))
  expect(await sandbox.effects(second.purchaseOrderId)).toEqual([])

  await writeSellers({})
  expect(await daemon.call('POST', '/v1/sellers/reload')).toMatchObject({ status: 200 })
  await eventually(async () => expect(await commands()).toMatchObject({ confirmed: 2, open: 0 }))
})

test('lines of a command name its own job, also where that of another one has run it', { timeout: 240_000 }, async () => {
  const reload = (more: object) => writeSellers(more).then(() => daemon.call('POST', '/v1/sellers/reload'))
  expect(await reload({ rateLimits: { 'orders.acknowledge': { tokens: 1, per: '1s' } } })).toMatchObject({ status: 200 })
  const orders: OrderAddress[] = []
  for (let index = 0; index < 8; index += 1) orders.push(await placeOrder(sandbox, 1, 'seller-limited'))
  // The one that is wanted last asks first, and gives its leave to another.
  for (const order of orders.toReversed()) expect(await post(daemon, accepted(order))).toBe(202)
  await eventually(async () => expect(await commands()).toMatchObject({ open: 0 }))
  await daemon.program.says('a command with an earlier deadline goes first')
  const lines = daemon.program
    .output()
    .split('\n')
    .flatMap((line) => (line.includes('"job":"command.run"') && line.includes('"command_id"') ? [JSON.parse(line)] : []))
  expect(lines.filter(({ msg }) => msg === 'command confirmed').length).toBeGreaterThanOrEqual(8)
  expect(lines.filter((line) => line.job_id !== `command.run~${line.command_id}`)).toEqual([])
})
