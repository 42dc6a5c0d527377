import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { z } from 'zod'
import { startTestDaemon } from '../support/daemon.ts'
import { accepted } from '../support/events.ts'
import { eventually } from '../support/eventually.ts'
import { startTestPostgres } from '../support/postgres.ts'
import { startProgram } from '../support/process.ts'
import { query } from '../support/query.ts'
import { startTestSandbox } from '../support/sandbox.ts'
import { makeSellers, placeOrder, post, stopSellerNow, untilEffects } from './support.ts'

const cleanUps: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

const listSchema = z.object({ items: z.array(z.looseObject({ sellerId: z.string() })) })

/** Refusals are believed after a minute; then it is a matter of seconds. */
const maxWaitMs = 150_000

test('refused credentials stop a seller after a minute, and a probe, a start or a person takes it up again', {
  timeout: 400_000,
}, async () => {
  const postgres = await startTestPostgres()
  cleanUps.push(() => postgres.stop())
  const sandbox = await startTestSandbox()
  cleanUps.push(() => sandbox.stop())
  const folder = await mkdtemp(path.join(tmpdir(), 'tallyman-credentials-'))
  cleanUps.push(() => rm(folder, { recursive: true, force: true }))
  const databaseUrl = await postgres.database()
  const sellersFile = path.join(folder, 'sellers.json')
  const [good, bad] = await makeSellers(sandbox, 'seller-good', 'seller-bad')
  await writeFile(sellersFile, JSON.stringify([good, { ...bad, clientSecret: 'mistyped' }]))
  const environment = {
    DATABASE_URL: databaseUrl,
    DATA_DIR: folder,
    MARKETPLACE_URL: sandbox.url,
    SELLERS_FILE: sellersFile,
    POLL_ORDERS: '1s',
  }
  const daemon = await startTestDaemon(environment)
  cleanUps.push(() => daemon.program.kill())
  const firstLook = await daemon.call('GET', '/v1/sellers')
  // A second process, which remembers the refusals for itself.
  const worker = startProgram('src/main.ts', { LOG_FORMAT: 'json', ROLES: 'worker', ...environment })
  cleanUps.push(() => worker.kill())
  await worker.says('"msg":"tallyman is running"')

  const list = async (route: string) => listSchema.parse((await daemon.call('GET', route)).body).items
  const standing = async () => (await list('/v1/sellers')).find(({ sellerId }) => sellerId === 'seller-bad')
  const changes = async () =>
    (await list('/v1/changes?after=0&limit=1000')).flatMap(({ sellerId, type, data }) =>
      sellerId === 'seller-bad' && String(type).startsWith('seller.') ? [[type, data]] : [],
    )

  // One refusal, or a few of them, are an outage.
  expect(firstLook).toMatchObject({ status: 200, body: { items: [{ state: 'active' }, { state: 'active' }] } })
  const order = await placeOrder(sandbox, 1, 'seller-bad')
  await eventually(async () => expect(await list('/v1/alarms')).not.toEqual([]), maxWaitMs)
  expect(await list('/v1/alarms')).toEqual([
    expect.objectContaining({
      sellerId: 'seller-bad',
      kind: 'credentials-refused',
      message: expect.stringMatching(/^stopped since \d{4}-\S+Z: .*correct them.*tallyman sellers resume seller-bad/),
    }),
  ])
  expect(await standing()).toMatchObject({ state: 'stopped', reason: expect.stringContaining('HTTP 400') })
  expect(await post(daemon, accepted(order))).toBe(202)
  expect(await daemon.call('POST', '/v1/syncs/orders/run', { sellerId: 'seller-bad' })).toMatchObject({
    status: 409,
    body: { code: 'seller-stopped' },
  })
  const ofGood = await placeOrder(sandbox, 1, 'seller-good')
  expect(await post(daemon, accepted(ofGood))).toBe(202)
  await untilEffects(sandbox, ofGood, ['acknowledged'])
  expect(await sandbox.effects(order.purchaseOrderId)).toEqual([])

  // The marketplace takes them: the next probe finds out, in whichever process, and the other one forgets its refusals.
  await sandbox.control('POST', '/sellers', { sellerId: 'seller-bad', clientSecret: 'mistyped' })
  await query(databaseUrl, `UPDATE tallyman.sellers SET probe_at = now() WHERE seller_id = 'seller-bad'`)
  await untilEffects(sandbox, order, ['acknowledged'])
  await eventually(async () => expect(await list('/v1/alarms')).toEqual([]))
  await eventually(async () =>
    expect(await changes()).toEqual([
      ['seller.stopped', expect.anything()],
      ['seller.resumed', { by: 'probe' }],
    ]),
  )

  // A person pauses: not even a start takes it up again.
  const pause = await daemon.call('POST', '/v1/sellers/seller-bad/pause', { actor: 'Ada', reason: 'stock-taking' })
  expect(pause).toMatchObject({ status: 200, body: { state: 'paused' } })
  const second = await placeOrder(sandbox, 1, 'seller-bad')
  expect(await post(daemon, accepted(second))).toBe(202)
  await worker.stop()
  const other = startProgram('src/main.ts', { LOG_FORMAT: 'json', ROLES: 'worker', ...environment })
  cleanUps.push(() => other.kill())
  await other.says('"msg":"tallyman is running"')
  const third = await placeOrder(sandbox, 1, 'seller-good')
  expect(await post(daemon, accepted(third))).toBe(202)
  await untilEffects(sandbox, third, ['acknowledged'])
  expect(await standing()).toMatchObject({ state: 'paused' })
  expect(await sandbox.effects(second.purchaseOrderId)).toEqual([])
  await daemon.call('POST', '/v1/sellers/seller-bad/resume')
  await untilEffects(sandbox, second, ['acknowledged'])

  // A start has the credentials of a stopped one tried, with the same settings too.
  await stopSellerNow(databaseUrl, 'seller-bad')
  expect(await standing()).toMatchObject({ state: 'stopped' })
  await other.stop()
  const last = startProgram('src/main.ts', { LOG_FORMAT: 'json', ROLES: 'worker', ...environment })
  cleanUps.push(() => last.kill())
  await eventually(async () => expect(await standing()).toMatchObject({ state: 'active', since: null }))
  await eventually(async () => expect((await changes()).at(-1)).toEqual(['seller.resumed', { by: 'probe' }]))
})
