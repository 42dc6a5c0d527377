import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts'
import { accepted, dispatched, type ErpEvent } from '../support/events.ts'
import { eventually } from '../support/eventually.ts'
import { startTestPostgres, type TestPostgres } from '../support/postgres.ts'
import { query } from '../support/query.ts'
import { startTestSandbox, type TestSandbox } from '../support/sandbox.ts'
import { makeSellers, placeOrder, post, readiness, untilSettled } from './support.ts'

let postgres: TestPostgres
let sandbox: TestSandbox
let folder: string
let sellersFile: string
let databaseUrl: string
const daemons: TestDaemon[] = []

beforeAll(async () => {
  ;[postgres, sandbox] = await Promise.all([startTestPostgres(), startTestSandbox()])
  folder = await mkdtemp(path.join(tmpdir(), 'tallyman-shutdown-'))
  sellersFile = path.join(folder, 'sellers.json')
})
afterAll(async () => {
  await Promise.all([postgres.stop(), sandbox.stop(), rm(folder, { recursive: true, force: true })])
})
beforeEach(async () => {
  databaseUrl = await postgres.database()
  await sandbox.control('PUT', '/faults', {})
})
afterEach(async () => {
  await Promise.all(daemons.splice(0).map((daemon) => daemon.program.kill()))
})

const start = async (env: Readonly<Record<string, string>>): Promise<TestDaemon> => {
  const daemon = await startTestDaemon({
    DATABASE_URL: databaseUrl,
    DATA_DIR: folder,
    MARKETPLACE_URL: sandbox.url,
    SELLERS_FILE: sellersFile,
    POLL_ORDERS: '2s',
    POLL_RETURNS: 'off',
    ...env,
  })
  daemons.push(daemon)
  return daemon
}

/** The rate budget is each seller's own. */
const sellerCount = 6
const firstParcel = 2
const secondParcel = 1

/** Posts the events again and again, each order's in its order, until every one has been accepted by whichever daemon is there. */
const postUntilAccepted = async (orders: readonly (readonly ErpEvent[])[], daemon: () => TestDaemon): Promise<void> => {
  await Promise.all(
    orders.map(async (events) => {
      for (const event of events) {
        for (;;) {
          const status = await post(daemon(), event).catch(() => null)
          if (status === 202) break
          if (status !== null) expect(status, 'refused for no reason').toBeGreaterThanOrEqual(500)
          await delay(50)
        }
      }
    }),
  )
}

const stages = [
  { name: 'commands that end in time end', slowMs: 300, env: { DRAIN_TIMEOUT: '6s', REQUEST_TIMEOUT: '4s', SETTLE_TIME: '5s' } },
  {
    name: 'commands that do not end in time are cut off, and looked into',
    slowMs: 2_500,
    env: { DRAIN_TIMEOUT: '400ms', REQUEST_TIMEOUT: '3s', SETTLE_TIME: '4s' },
  },
] as const

describe('SIGTERM under load', () => {
  test.each(stages)('$name; another daemon does the rest, nothing lost and nothing doubled', async ({ slowMs, env }) => {
    const sellerIds = Array.from({ length: sellerCount }, (_, place) => `seller-${place}`)
    await writeFile(sellersFile, JSON.stringify(await makeSellers(sandbox, ...sellerIds)))
    const orders = await Promise.all(
      [...sellerIds, ...sellerIds].map((sellerId) => placeOrder(sandbox, firstParcel + secondParcel, sellerId)),
    )
    const events = orders.map((order) => [accepted(order), dispatched(order, 0, firstParcel), dispatched(order, 1, secondParcel)])
    await sandbox.control('PUT', '/faults', {
      rules: [{ operation: 'orders.*', method: 'POST', slow: { share: 1, delayMs: slowMs } }],
    })

    const first = await start(env)
    let current = first
    const posting = postUntilAccepted(events, () => current)
    await eventually(async () => {
      const [row] = await query<{ sending: number }>(
        databaseUrl,
        `SELECT count(*)::int AS sending FROM tallyman.commands WHERE state = 'sending'`,
      )
      expect(row?.sending).toBeGreaterThanOrEqual(3)
    })
    expect(await first.program.stop()).toBe(0)
    const drainMs = Number.parseInt(env.DRAIN_TIMEOUT, 10) * (env.DRAIN_TIMEOUT.endsWith('ms') ? 1 : 1_000)
    expect(first.program.output()).toContain(slowMs < drainMs ? '"clean":true' : '"clean":false')

    current = await start(env)
    await posting
    await sandbox.control('PUT', '/faults', {})
    expect(await untilSettled(databaseUrl)).toEqual({ confirmed: orders.length * 3 })
    for (const order of orders) {
      const effects = await sandbox.effects(order.purchaseOrderId)
      expect(effects.map(({ kind, quantity, trackingNumber }) => [kind, quantity, trackingNumber ?? null])).toEqual([
        ['acknowledged', firstParcel + secondParcel, null],
        ['shipped', firstParcel, `1Z${order.purchaseOrderId}0`],
        ['shipped', secondParcel, `1Z${order.purchaseOrderId}1`],
      ])
    }
  })

  test('a signal that arrives twice counts once; a second one ends at once', async () => {
    const [seller] = await makeSellers(sandbox, 'seller-0')
    await writeFile(sellersFile, JSON.stringify([seller]))
    const order = await placeOrder(sandbox, 1, 'seller-0')
    await sandbox.next({ fault: 'timeoutBefore', operation: 'orders.acknowledge', purchaseOrderId: order.purchaseOrderId })
    const daemon = await start({ DRAIN_TIMEOUT: '60s', REQUEST_TIMEOUT: '60s', SETTLE_TIME: '2m' })
    expect(await post(daemon, accepted(order))).toBe(202)
    await eventually(async () => {
      const states = await query<{ state: string }>(databaseUrl, 'SELECT state FROM tallyman.commands')
      expect(states).toEqual([{ state: 'sending' }])
    })
    const signalledAt = performance.now()
    daemon.program.child.kill('SIGTERM')
    await daemon.program.says('stopping: finishing work in progress')
    await eventually(async () => expect(await readiness(daemon)).toEqual({ status: 503, failing: ['not-draining'] }))
    const { child } = daemon.program
    // As `npm` and a supervisor of groups pass it on, to the end of the time in which it is an echo, and then once more.
    await eventually(() => {
      if (child.exitCode === null) child.kill('SIGTERM')
      expect(child.exitCode).toBe(1)
    })
    // The patience above is half the time to drain: what ended it was the second signal, after the time of echoes.
    expect(performance.now() - signalledAt).toBeGreaterThan(900)
  })
})
