import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { cli } from '../cli/run.ts'
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts'
import { accepted, dispatched } from '../support/events.ts'
import { eventually } from '../support/eventually.ts'
import { startTestPostgres, type TestPostgres } from '../support/postgres.ts'
import { query } from '../support/query.ts'
import { startTestSandbox, type TestSandbox } from '../support/sandbox.ts'
import { placeOrder, post, sandboxSeller } from './support.ts'

const sellerId = sandboxSeller.SELLER_ID
const dayMs = 86_400_000
let postgres: TestPostgres
let sandbox: TestSandbox
let daemon: TestDaemon
let databaseUrl: string

beforeAll(async () => {
  ;[postgres, sandbox] = await Promise.all([startTestPostgres(), startTestSandbox()])
  databaseUrl = await postgres.database()
  daemon = await startTestDaemon({
    ...sandboxSeller,
    DATABASE_URL: databaseUrl,
    MARKETPLACE_URL: sandbox.url,
    DATA_DIR: sandbox.folder,
    // Two calls a second for what a backfill asks, a shipment an hour.
    RATE_LIMITS: JSON.stringify({ 'orders.list': { tokens: 4, per: '2s' }, 'orders.ship': { tokens: 1, per: '1h' } }),
    // Nothing but the backfill asks for lists.
    POLL_ORDERS: 'off',
    POLL_ORDER_SWEEP: 'off',
    POLL_RETURNS: 'off',
    POLL_SHIPPING_SETTINGS: 'off',
  })
}, 60_000)
afterAll(async () => {
  await daemon.program.kill()
  await sandbox.stop()
  await postgres.stop()
})

const forecastSchema = z.looseObject({
  from: z.coerce.date(),
  backfills: z.array(
    z.looseObject({
      resource: z.string(),
      windowsLeft: z.int(),
      pages: z.int(),
      basis: z.string(),
      endsAt: z.coerce.date().nullable(),
    }),
  ),
  operations: z.array(
    z.looseObject({ operation: z.string(), open: z.int(), perMinute: z.number(), lastAt: z.coerce.date().nullable() }),
  ),
  assumptions: z.array(z.string()),
})
const ask = async (path = '/v1/forecast') => {
  const { status, body } = await daemon.call('GET', path)
  expect(status, JSON.stringify(body)).toBe(200)
  return forecastSchema.parse(body)
}

const listCalls = async (): Promise<number> => {
  const text = await (await fetch(`${daemon.url}/metrics`)).text()
  return Number(/^tallyman_api_requests_total\{operation="orders.list",outcome="ok"\} (\d+)/m.exec(text)?.[1] ?? 0)
}

test('a backfill with a tight limit takes the calls that are reported while it is in progress, or up to a third more', async () => {
  const from = new Date(Date.now() - 30 * dayMs)
  await sandbox.placeRandom(60, { createdFrom: from.toISOString(), alive: false })
  expect((await ask()).backfills).toEqual([])
  const asked = await daemon.call('POST', '/v1/syncs/orders/run', { from: from.toISOString() })
  expect(asked.status).toBe(202)
  const { backfill, forecast } = await eventually(async () => {
    const told = await ask()
    const [first] = told.backfills
    if (first?.basis !== 'windows-read') throw new Error('no window has been read yet, or all have')
    return { backfill: first, forecast: told }
  })
  expect(backfill).toMatchObject({ resource: 'orders', endsAt: expect.any(Date) })
  const list = forecast.operations.find(({ operation }) => operation === 'orders.list')
  expect(list).toMatchObject({ open: backfill.pages, lastAt: backfill.endsAt, tokens: 4, perMs: 2_000 })
  const state = `FROM tallyman.sync_states WHERE stream LIKE 'backfill:%'`
  await eventually(async () => expect(await query(databaseUrl, `SELECT 1 ${state} AND pending = '[]'`)).toHaveLength(1))
  // Where it stands is stored every ten seconds at least, so what it has read by the forecast is what the forecast knew of.
  const [{ windows } = { windows: 0 }] = await query<{ windows: number }>(
    databaseUrl,
    `SELECT (totals ->> 'windowsTotal')::int AS windows ${state}`,
  )
  const calls = await listCalls()
  expect(calls).toBeGreaterThanOrEqual(9)
  // Some windows end with an empty page, which nobody knows before.
  const told = windows - backfill.windowsLeft + backfill.pages
  expect(calls).toBeGreaterThanOrEqual(told)
  expect(calls).toBeLessThanOrEqual(Math.ceil((told * 4) / 3))
  // Half a second a call, and no page faster.
  const seconds = ((backfill.endsAt?.getTime() ?? 0) - forecast.from.getTime()) / 1_000
  expect(seconds).toBeGreaterThanOrEqual(backfill.pages * 0.5)
  expect(seconds).toBeLessThan((backfill.pages + 4) * 1.5)
  expect((await ask()).backfills).toEqual([])
}, 60_000)

test('shipments that wait for budget are late, and what the ERP says nothing of waits for it', async () => {
  const orders = await Promise.all([1, 1, 1].map((quantity) => placeOrder(sandbox, quantity)))
  for (const order of orders) {
    expect(await post(daemon, accepted(order))).toBe(202)
    expect(await post(daemon, dispatched(order, 1, 1))).toBe(202)
  }
  // One an hour: the first is sent, the others wait.
  const shipments = `FROM tallyman.commands WHERE kind = 'ship' AND state`
  await eventually(async () => {
    expect(await query(databaseUrl, `SELECT 1 ${shipments} = 'confirmed'`)).toHaveLength(1)
    expect(
      await query(databaseUrl, `SELECT 1 ${shipments} = 'pending' AND next_action_at > now() + interval '1 minute'`),
    ).toHaveLength(2)
  })
  await query(
    databaseUrl,
    `UPDATE tallyman.commands SET act_by = now() + interval '90 minutes' WHERE kind = 'ship' AND state = 'pending'`,
  )
  const silent = await placeOrder(sandbox, 1)
  expect(await post(daemon, accepted(silent))).toBe(202)
  await eventually(async () =>
    expect(
      await query(databaseUrl, `SELECT 1 FROM tallyman.commands WHERE kind = 'acknowledge' AND state = 'confirmed'`),
    ).toHaveLength(4),
  )
  await query(
    databaseUrl,
    `UPDATE warehouse.orders SET estimated_ship_date = now() + interval '5 hours' WHERE purchase_order_id = '${silent.purchaseOrderId}'`,
  )

  const environment = { TALLYMAN_URL: daemon.url }
  const { code, out } = await cli(['forecast', '--json'], environment)
  expect(code).toBe(0)
  const told = JSON.parse(out)
  // One of the two an hour after the first, the other two hours after it: half an hour too late.
  expect(told.commands).toMatchObject({ open: 2, sent: 2, late: 1, unsent: 0 })
  expect(told.shipBy.atRisk).toEqual(told.commands.lateOnes)
  const [late] = told.shipBy.atRisk
  expect(orders.map(({ purchaseOrderId }) => purchaseOrderId)).toContain(late.purchaseOrderId)
  expect(late).toMatchObject({ kind: 'ship', lines: ['1'], sellerId })
  const lateMinutes = (Date.parse(late.expectedAt) - Date.parse(late.actBy)) / 60_000
  expect(lateMinutes).toBeGreaterThan(20)
  expect(lateMinutes).toBeLessThan(40)
  expect(told.shipBy.waitingForErp).toContainEqual(
    expect.objectContaining({ purchaseOrderId: silent.purchaseOrderId, wants: 'ship' }),
  )

  const shown = await cli(['forecast', '--seller', sellerId, '--hours', '1', '--command', late.commandId], environment, {
    columns: 100,
  })
  expect(shown.code).toBe(0)
  expect(shown.out).toMatch(new RegExp(`^ship ${late.commandId}: position 2 of orders\\.ship, sent \\d{4}-`, 'm'))
  expect(shown.out).toMatch(/^backfills: none$/m)
  expect(shown.out).toMatch(/^sandbox-seller +orders\.ship +1 in 1 h +\d+ +[\d.]+ % +2 +/m)
  expect(shown.out).toMatch(/^commands: 2 open, \d will be sent, \d will not, 0 late$/m)
  expect(shown.out.split('\n').every((line) => line.length <= 100)).toBe(true)
  expect(shown.messages).toContain('The marketplace accepts everything within the limits')

  // What is late by seconds is late, and what has passed is no deadline to come.
  await query(
    databaseUrl,
    `UPDATE warehouse.orders SET estimated_ship_date = now() - interval '1 day' WHERE purchase_order_id = '${silent.purchaseOrderId}'`,
  )
  const later = await cli(['forecast'], environment)
  const second = String.raw`\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ`
  expect(later.out).toMatch(
    new RegExp(`^  ship ${late.purchaseOrderId} 1 of ${sellerId}: due by ${second}, sent ${second}$`, 'm'),
  )
  expect(later.out).toMatch(new RegExp(`^  order ${silent.purchaseOrderId}: ship by .*Z, which has passed$`, 'm'))
}, 60_000)

test('a shipment behind a command that is held is not told as sent', async () => {
  const [{ id, order } = { id: '', order: '' }] = await query<{ id: string; order: string }>(
    databaseUrl,
    `SELECT id, purchase_order_id AS order FROM tallyman.commands WHERE kind = 'ship' AND state = 'pending' ORDER BY sequence LIMIT 1`,
  )
  await query(
    databaseUrl,
    `UPDATE tallyman.commands SET state = 'held' WHERE kind = 'acknowledge' AND purchase_order_id = '${order}'`,
  )
  const told = await ask()
  expect(told).toMatchObject({ commands: { open: 2, sent: 1, unsent: 1 } })
  expect(told['shipBy']).toMatchObject({
    atRisk: expect.arrayContaining([expect.objectContaining({ commandId: id, expectedAt: null })]),
  })
  expect(told.assumptions).toContain('Nothing is sent for commands that wait behind held ones until those are decided: 1.')
})

test('what is asked wrongly is said', async () => {
  const environment = { TALLYMAN_URL: daemon.url }
  expect(await cli(['forecast', '--command', 'none'], environment)).toMatchObject({
    code: 1,
    messages: expect.stringContaining('There is no open command none.'),
  })
  expect(await cli(['forecast', '--seller', 'nobody'], environment)).toMatchObject({
    code: 1,
    messages: expect.stringContaining('There is no seller nobody.'),
  })
  expect(await cli(['forecast', '--hours', '500'], environment)).toMatchObject({
    code: 2,
    messages: expect.stringContaining('hours'),
  })
  expect(await cli(['forecast', '--hours', 'soon'], environment)).toMatchObject({ code: 2 })
  await daemon.call('POST', `/v1/sellers/${sellerId}/pause`, { actor: 'Ada', reason: 'stocktaking' })
  expect((await ask()).assumptions).toContain(`Nothing is done for sellers that are stopped or paused: ${sellerId}.`)
})
