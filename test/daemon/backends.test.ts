import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts'
import { accepted, dispatched } from '../support/events.ts'
import { startTestPostgres, type TestPostgres } from '../support/postgres.ts'
import { startTestSandbox, type TestSandbox } from '../support/sandbox.ts'
import { placeOrder, post, sandboxSeller, untilEffects, untilReady, untilSettled } from './support.ts'

let postgres: TestPostgres
let sandbox: TestSandbox
let databaseUrl: string
let daemon: TestDaemon

beforeAll(async () => {
  ;[postgres, sandbox] = await Promise.all([startTestPostgres(), startTestSandbox()])
  databaseUrl = await postgres.database()
  daemon = await startTestDaemon({
    ...sandboxSeller,
    DATABASE_URL: databaseUrl,
    MARKETPLACE_URL: sandbox.url,
    POLL_ORDERS: '1s',
    REQUEST_TIMEOUT: '2s',
    SETTLE_TIME: '4s',
  })
})
afterAll(async () => {
  await daemon.program.kill()
  await Promise.all([postgres.stop(), sandbox.stop()])
})

const rounds = 60

test('a daemon whose every backend is terminated again and again while it works goes on working', async () => {
  const admin = new pg.Client({ connectionString: databaseUrl })
  await admin.connect()
  let terminated = 0
  let working = true
  // Callers of all kinds, so that connections are in every state: idle, in a statement, between two statements of a transaction.
  const orders = await Promise.all(Array.from({ length: 8 }, () => placeOrder(sandbox, 4)))
  const statuses = new Set<number>()
  const alive = () => expect(daemon.program.child.exitCode, daemon.program.output().slice(-3_000)).toBeNull()
  const callers = Promise.all([
    ...orders.map(async (order) => {
      for (const event of [accepted(order), ...[1, 2].map((parcel) => dispatched(order, parcel, 2))]) {
        // As an ERP does: the same event again until it is taken.
        for (let status = 0; status !== 202; ) {
          alive()
          status = await post(daemon, event)
          statuses.add(status)
          if (status !== 202) await delay(100)
        }
      }
    }),
    ...['/v1/orders?limit=5', '/v1/overview', '/v1/syncs', '/metrics', '/readyz'].map(async (route) => {
      while (working) {
        alive()
        const answer = await fetch(`${daemon.url}${route}`)
        await answer.text()
        if (route.startsWith('/v1')) statuses.add(answer.status)
        await delay(20)
      }
    }),
  ])
  const terminating = (async () => {
    for (let round = 0; round < rounds; round += 1) {
      const { rows } = await admin.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`,
      )
      terminated += rows.length
      await delay(20 + (round % 5) * 30)
    }
    working = false
  })()
  await Promise.all([callers, terminating])
  await admin.end()
  alive()
  expect(terminated).toBeGreaterThan(rounds)
  // One line for the outage, not one for each request that met it.
  const lines = daemon.program.output().split('\n')
  const about = (text: string) => lines.filter((line) => line.includes(text)).length
  expect(about('requests that need it are answered with 503')).toBeLessThanOrEqual(about('the database is available again') + 1)
  expect(about('a request failed')).toBe(0)
  // Nothing but "not now": no answer that sounds like a fault of ours.
  expect([...statuses].filter((status) => ![200, 202, 503].includes(status))).toEqual([])
  await untilReady(daemon)
  // The queues too: BullMQ keeps one listening connection for each, and must notice that it has gone.
  await Promise.all(orders.map((order) => untilEffects(sandbox, order, ['acknowledged', 'shipped', 'shipped'])))
  expect(await untilSettled(databaseUrl)).toEqual({ confirmed: 24 })
})
