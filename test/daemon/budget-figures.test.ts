import { afterAll, beforeAll, expect, test } from 'vitest'
import { mergeLimits } from '../../src/jobs/rate-limits/figures.ts'
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts'
import { eventually } from '../support/eventually.ts'
import { listAt, ofItems } from '../support/json.ts'
import { startTestPostgres, type TestPostgres } from '../support/postgres.ts'
import { type Program, startProgram } from '../support/process.ts'
import { startTestSandbox, type TestSandbox } from '../support/sandbox.ts'
import { sandboxSeller } from './support.ts'

let postgres: TestPostgres
let sandbox: TestSandbox
let http: TestDaemon
let worker: Program

beforeAll(async () => {
  ;[postgres, sandbox] = await Promise.all([startTestPostgres(), startTestSandbox()])
  const environment = {
    ...sandboxSeller,
    MARKETPLACE_URL: sandbox.url,
    DATABASE_URL: await postgres.database(),
    DATA_DIR: sandbox.folder,
    POLL_ORDERS: '2s',
    // One an hour: it is used up as soon as returns are read.
    RATE_LIMITS: JSON.stringify({ 'returns.list': { tokens: 1, per: '1h' } }),
  }
  http = await startTestDaemon({ ...environment, ROLES: 'http' })
  worker = startProgram('src/main.ts', { LOG_FORMAT: 'json', ...environment, ROLES: 'scheduler,worker' })
  await worker.says('"msg":"tallyman is running"')
})
afterAll(async () => {
  await worker?.stop()
  await http?.program.stop()
  await Promise.all([postgres.stop(), sandbox.stop()])
})

test('a process that only serves HTTP tells what the others have left of the rate limits, while they run', async () => {
  await eventually(async () => {
    const { body } = await http.call('GET', '/v1/budget')
    expect(ofItems(body, 'operation')).toContain('orders.list')
    expect(listAt(body, 'items')).toContainEqual(
      expect.objectContaining({ sellerId: sandboxSeller.SELLER_ID, operation: 'returns.list', available: 0 }),
    )
  }, 60_000)
  const { body: sellers } = await http.call('GET', '/v1/sellers')
  expect(listAt(sellers, 'items')).toContainEqual(
    expect.objectContaining({
      waitingOperations: expect.arrayContaining([{ operation: 'returns.list', scope: null, until: null }]),
    }),
  )
  expect(await worker.stop()).toBe(0)
  const { body } = await http.call('GET', '/v1/budget')
  expect(ofItems(body, 'operation')).not.toContain('orders.list')
})

test('of a limit that several processes know, the one that knows of less left is believed', () => {
  const limit = { sellerId: 's-1', operation: 'orders.list', scope: null, available: 5, perMinute: 60, blockedUntil: null }
  const other = { ...limit, scope: '2026-01' }
  const used = { ...limit, available: 0 }
  const blocked = { ...used, blockedUntil: new Date('2026-03-10T00:00:00Z') }
  expect(mergeLimits([limit, other, blocked, used])).toEqual([blocked, other])
})
