/**
 * The time from a notification of the marketplace to its stored order, on an idle daemon: the sandbox, the daemon and Postgres, each a process of its own.
 * `node bench/notifications.ts [--orders 200]`; prints percentiles in milliseconds.
 */

import { createHmac, randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { startTestDaemon } from '../test/support/daemon.ts'
import { startTestPostgres } from '../test/support/postgres.ts'
import { startTestSandbox } from '../test/support/sandbox.ts'
import { benchFolder, benchOptions } from './measure.ts'

const { orders } = benchOptions({ orders: 200 }).numbers
const secret = 'marketplace:a-password-of-the-bench'
const lookEveryMs = 2
const pauseMs = 50
const warmUps = 20

const folder = await benchFolder()
const [postgres, sandbox] = await Promise.all([startTestPostgres(), startTestSandbox({ MARKETPLACE_PROFILE: 'walmart-us' })])
const databaseUrl = await postgres.database()
const daemon = await startTestDaemon({
  SELLER_ID: 'sandbox-seller',
  CLIENT_ID: 'sandbox-client',
  CLIENT_SECRET: 'sandbox-secret',
  DATABASE_URL: databaseUrl,
  DATA_DIR: folder,
  MARKETPLACE_URL: sandbox.url,
  MARKETPLACE_PROFILE: 'walmart-us',
  NOTIFICATIONS_SECRET: secret,
  POLL_ORDERS: 'off',
  POLL_RETURNS: 'off',
})
const client = new pg.Client({ connectionString: databaseUrl })
await client.connect()

const deliver = async (purchaseOrderId: string): Promise<void> => {
  const body = JSON.stringify({
    source: { eventType: 'ORDER_UPDATES', eventId: randomUUID() },
    payload: { subEventType: 'PO_CREATED', order: { purchaseOrderId } },
  })
  const authorization = createHmac('sha256', secret).update(body).digest('base64')
  const answer = await fetch(`${daemon.url}/v1/notifications/sandbox-seller`, {
    method: 'POST',
    body,
    headers: { authorization },
  })
  if (answer.status !== 202) throw new Error(`a notification was answered with ${answer.status}`)
  await answer.text()
}

const untilStored = async (purchaseOrderId: string): Promise<void> => {
  for (;;) {
    const { rowCount } = await client.query('SELECT 1 FROM warehouse.orders WHERE purchase_order_id = $1', [purchaseOrderId])
    if (rowCount === 1) return
    await delay(lookEveryMs)
  }
}

const ids = await sandbox.placeRandom(orders + warmUps, { sellerId: 'sandbox-seller', alive: false })
const tookMs: number[] = []
for (const id of ids) {
  const began = performance.now()
  await deliver(id)
  await untilStored(id)
  tookMs.push(performance.now() - began)
  await delay(pauseMs)
}
const sorted = tookMs.slice(warmUps).sort((one, other) => one - other)
const percentile = (share: number): string =>
  (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0).toFixed(0)
console.log(`notification to stored order, ${sorted.length} orders: p50 ${percentile(0.5)} ms, p99 ${percentile(0.99)} ms`)

await client.end()
await daemon.program.kill()
await Promise.all([postgres.stop(), sandbox.stop()])
await rm(folder, { recursive: true, force: true })
