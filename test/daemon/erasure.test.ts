import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { markedColumns } from '../../src/store/privacy/personal-data.ts'
import { cli } from '../cli/run.ts'
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts'
import { withDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { query } from '../support/query.ts'
import { startTestSandbox, type TestSandbox } from '../support/sandbox.ts'
import { buyer, type Planter, startPlanter, tracesOfBuyer } from './planting.ts'
import { post, sandboxSeller } from './support.ts'

const stage = withDatabase()
let sandbox: TestSandbox
let planter: Planter
let daemon: TestDaemon
let dataDir: string

beforeAll(async () => {
  sandbox = await startTestSandbox()
  planter = await startPlanter(sandbox.url)
  dataDir = path.join(sandbox.folder, 'daemon')
  daemon = await startTestDaemon({
    ...sandboxSeller,
    DATABASE_URL: stage.url,
    MARKETPLACE_URL: planter.url,
    DATA_DIR: dataDir,
    POLL_ORDERS: '1s',
    POLL_RETURNS: '1s',
    LOG_LEVEL: 'debug',
  })
}, 120_000)
afterAll(async () => {
  await daemon?.program.stop()
  await planter?.close()
  await sandbox?.stop()
})

/** What is looked for, as one regular expression of Postgres: a trace as it is, or in `bytea`, which is written as hexadecimal digits. */
const pattern = tracesOfBuyer
  .flatMap((trace) => [trace, Buffer.from(trace).toString('hex')])
  .join('|')
  .replaceAll('.', '\\.')

/** Columns of all schemas that hold a trace of the buyer, `schema.table.column`, sorted: Postgres may look in parallel. */
const columnsWithTraces = async (): Promise<readonly string[]> => {
  const tables = await query<{ name: string; columns: string[] }>(
    stage.url,
    `SELECT table_schema || '.' || table_name AS name, array_agg(column_name::text) AS columns FROM information_schema.columns
     JOIN information_schema.tables USING (table_schema, table_name)
     WHERE table_type = 'BASE TABLE' AND table_schema NOT IN ('pg_catalog', 'information_schema') GROUP BY 1`,
  )
  expect(tables.map(({ name }) => name.split('.')[0])).toContain('bullmq')
  const looks = tables.flatMap(({ name, columns }) =>
    columns.map((column) => {
      const table = name.split('.').map((part) => `"${part}"`)
      return `SELECT '${name}.${column}' AS name WHERE EXISTS (SELECT FROM ${table.join('.')} t WHERE lower(t."${column}"::text) ~ '${pattern}')`
    }),
  )
  return (await query<{ name: string }>(stage.url, looks.join(' UNION ALL '))).map(({ name }) => name).sort()
}

const filesWithTraces = async (folder: string): Promise<readonly string[]> => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => [])
  const found: string[] = []
  for (const entry of entries.filter((one) => one.isFile())) {
    const file = path.join(entry.parentPath, entry.name)
    const text = (await readFile(file, 'latin1')).toLowerCase()
    if (tracesOfBuyer.some((trace) => text.includes(trace))) found.push(file)
  }
  return found
}

const count = async (condition: string): Promise<number> =>
  (await query<{ n: number }>(stage.url, `SELECT count(*)::int AS n FROM ${condition}`))[0]?.n ?? 0

const untilThereAre = (n: number, condition: string): Promise<void> =>
  eventually(async () => expect(await count(condition), condition).toBeGreaterThanOrEqual(n), 60_000)

const line = (lineNumber: string) => ({ lineNumber, sku: `SKU-${lineNumber}`, quantity: 4, unitPrice: '4.00', shipping: '1.00' })

/** What has just happened is listed from then on. */
const later = () => sandbox.control('POST', '/clock', { advance: '3m' })

const environment = () => ({ TALLYMAN_URL: daemon.url })

test('a buyer who is erased stands nowhere any more, units and money stay, and no later reading brings him back', {
  timeout: 480_000,
}, async () => {
  const purchaseOrderId = await sandbox.place({ sellerId: 'sandbox-seller', lines: [line('1'), line('2')] })
  const order = { sellerId: 'sandbox-seller', purchaseOrderId }
  await untilThereAre(1, 'warehouse.orders')
  const [stored] = await query<{ customer_order_id: string }>(stage.url, 'SELECT customer_order_id FROM warehouse.orders')
  const customerOrderId = stored?.customer_order_id ?? ''

  // Events and commands: accepted, shipped, refused with the buyer's name, decided by a person who names him.
  const commandsSettled = () =>
    eventually(async () => expect(await count(`tallyman.commands WHERE state NOT IN ('confirmed', 'rejected')`)).toBe(0), 60_000)
  expect(await post(daemon, { id: 'accept', type: 'erp.order.accepted', data: order })).toBe(202)
  const parcel = {
    carrier: 'UPS',
    trackingNumber: '1Z0001',
    trackingUrl: `https://carrier.example/?zip=${buyer.postalCode}`,
    method: 'Standard',
    shippedAt: '2026-11-20T10:00:00Z',
    lines: [{ lineNumber: '1', quantity: 2 }],
  }
  expect(await post(daemon, { id: 'ship', type: 'erp.shipment.dispatched', data: { ...order, parcels: [parcel] } })).toBe(202)
  await commandsSettled()
  // A proposed event, which a person rejects; both name the buyer.
  const call = async (path: string, body: object) => {
    const answer = await daemon.call('POST', path, body)
    expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300)
    return answer.body
  }
  const proposal = {
    type: 'erp.shipment.dispatched',
    data: { ...order, parcels: [{ ...parcel, trackingNumber: '1Z0009', lines: [{ lineNumber: '2', quantity: 1 }] }] },
    reason: `${buyer.name} waits for it`,
  }
  const { id: proposalId } = z.object({ id: z.string() }).parse(await call('/v1/proposals', proposal))
  await call(`/v1/proposals/${proposalId}/reject`, { reason: `${buyer.name} does not want it`, actor: 'Ada' })
  const echo = {
    code: 'INVALID_REQUEST_CONTENT.GMP_ORDER_API',
    field: 'data',
    description: `not for ${buyer.name}`,
    info: buyer.email,
  }
  planter.refuseNext(400, { errors: { error: [echo] } })
  const cancelled = { ...order, lines: [{ lineNumber: '2', quantity: 1, reason: 'SELLER_CANCEL_OUT_OF_STOCK' }] }
  expect(await post(daemon, { id: 'cancel', type: 'erp.lines.unfulfillable', data: cancelled })).toBe(202)
  await commandsSettled()

  // A return, and events by SQL that are wrong: in their lines, their type, and their seller.
  await sandbox.control('POST', '/returns', { purchaseOrderId, lines: [{ lineNumber: '1', quantity: 1 }], travels: false })
  await later()
  await untilThereAre(1, 'warehouse.return_lines')
  const wrong = JSON.stringify({
    ...order,
    lines: [{ sku: `for ${buyer.name}`, quantity: 1, reason: 'SELLER_CANCEL_OUT_OF_STOCK' }],
  })
  await query(
    stage.url,
    `INSERT INTO tallyman.erp_event (source, id, type, data) VALUES ('/sql', 'wrong', 'erp.lines.unfulfillable', '${wrong}'),
       ('/sql', 'type', 'for ${buyer.name}', '${JSON.stringify(order)}'),
       ('/sql', 'seller', 'erp.lines.unfulfillable', '${JSON.stringify({ ...order, sellerId: buyer.name })}')`,
  )
  await untilThereAre(3, `tallyman.erp_event WHERE status = 'rejected'`)

  // Quarantine: another order of the same customer order, which cannot be read, with its number and without.
  for (const how of ['keyed', 'keyless'] as const) {
    planter.breakOrder(purchaseOrderId, how)
    await sandbox.control('POST', '/buyer-cancel', { purchaseOrderId, lineNumber: '2', quantity: 1 })
    await later()
    await untilThereAre(1, `tallyman.quarantined_records WHERE (record_key IS NULL) = ${how === 'keyless'}`)
  }
  planter.breakOrder(purchaseOrderId, 'whole')
  await later()
  await eventually(async () => expect(await count('warehouse.order_lines WHERE cancelled = 2')).toBe(1), 60_000)

  // Under way: a command whose outcome is unknown; a person decides it in the end, and names the buyer.
  planter.refuseNext(500, {})
  expect(
    await post(daemon, {
      id: 'late',
      type: 'erp.shipment.dispatched',
      data: { ...order, parcels: [{ ...parcel, trackingNumber: '1Z0002' }] },
    }),
  ).toBe(202)
  await untilThereAre(1, `tallyman.commands WHERE state = 'verifying' AND attempts > 0`)
  const erase = (...more: string[]) =>
    cli(['erase', '--customer-order', customerOrderId, '--seller', 'sandbox-seller', '--by', 'Ada', ...more], environment())
  const refused = await erase('--reason', 'request 4711', '--yes')
  expect(refused).toMatchObject({ code: 1, messages: expect.stringMatching(/Not yet: command \S+ of order \d+ is verifying/) })
  const [late] = await query<{ id: string }>(stage.url, `SELECT id FROM tallyman.commands WHERE event_id = 'late'`)
  expect((await cli(['commands', 'reject', late?.id ?? '', '--reason', `${buyer.name} has called`], environment())).code).toBe(0)

  // Alarms of refused commands: a person silences and closes one, and names the buyer both times.
  const [alarm] = await query<{ id: string }>(
    stage.url,
    `SELECT a.id FROM tallyman.alarms a JOIN tallyman.commands c ON c.id = a.subject WHERE c.event_id = 'cancel' AND a.resolved_at IS NULL`,
  )
  const tomorrow = new Date(Date.now() + 86_400_000).toISOString()
  const act = (what: 'silence' | 'resolve', reason: string) =>
    cli(
      ['alarms', what, alarm?.id ?? '', '--reason', reason, ...(what === 'silence' ? ['--until', tomorrow] : [])],
      environment(),
    )
  expect(await act('silence', `${buyer.name} calls back`)).toMatchObject({ code: 0 })
  expect(await act('resolve', `${buyer.name} has called back`)).toMatchObject({ code: 0 })

  // Everything that may hold a buyer does so now: what is not searched for cannot be found.
  await eventually(async () => expect(await query(stage.url, 'SELECT 1 FROM tallyman.unnumbered_changes')).toEqual([]))
  const before = await columnsWithTraces()
  const marked = (await markedColumns()).filter(({ mark }) => mark === 'buyer').map(({ table, column }) => `${table}.${column}`)
  // BI reads whose a change is; only the change of a rejected event may say what was never a seller.
  expect(before.filter((name) => !marked.includes(name))).toEqual(['warehouse.changes.seller_id'])
  // An event that waits has no words of a buyer, evidence names numbers of parcels, nothing was decided by line, and all changes have numbers.
  const notPlanted = [
    'tallyman.command_attempts.read_backs',
    'tallyman.command_decisions.evidence',
    'tallyman.commands.evidence',
    'tallyman.commands.parts',
    'tallyman.erp_event.waits_for',
    'tallyman.quarantined_records.dismissed_reason',
    'tallyman.quarantined_records.fault',
    'tallyman.unnumbered_changes.changes',
  ]
  expect(marked.filter((name) => !before.includes(name)).sort()).toEqual(notPlanted)
  const units = () =>
    query(
      stage.url,
      `SELECT o.total_amount::text, l.line_number, l.ordered, l.acknowledged, l.shipped, l.cancelled, l.refunded, l.charges,
         (SELECT json_agg(json_build_array(status, quantity, tracking_number) ORDER BY position) FROM warehouse.order_line_statuses s
          WHERE s.line_number = l.line_number) AS statuses
       FROM warehouse.orders o JOIN warehouse.order_lines l USING (seller_id, purchase_order_id) ORDER BY l.line_number`,
    )
  const unitsBefore = await units()

  // It is shown first; a reason that names the buyer would keep what is to be erased.
  const looked = await erase('--reason', 'request 4711', '--dry-run')
  expect(looked.out).toMatch(/warehouse\.orders +1\n/)
  expect(await erase('--reason', 'request 4711')).toMatchObject({
    code: 1,
    messages: expect.stringMatching(/Type yes:\s.*nothing was erased/s),
  })
  expect(await columnsWithTraces()).toEqual(before)
  expect(await erase('--reason', `${buyer.email} asks`, '--yes')).toMatchObject({
    code: 1,
    messages: expect.stringContaining('buyer'),
  })
  const done = await erase('--reason', 'request 4711', '--yes', '--json')
  expect(done, done.messages).toMatchObject({ code: 0 })
  expect(JSON.parse(done.out)).toMatchObject({
    purchaseOrderIds: [purchaseOrderId],
    rows: { 'warehouse.orders': 1, 'warehouse.returns': 1 },
  })

  expect(await columnsWithTraces()).toEqual([])
  expect(await units()).toEqual(unitsBefore)
  const [audit] = await query(
    stage.url,
    `SELECT actor, action, seller_id, subject, reason FROM tallyman.audit_entries WHERE action = 'buyer.erased'`,
  )
  expect(audit).toEqual({
    actor: 'Ada',
    action: 'buyer.erased',
    seller_id: 'sandbox-seller',
    subject: customerOrderId,
    reason: 'request 4711',
  })

  // An unchanged order is not written with every poll.
  const readVersion = async () => (await query<{ xmin: string }>(stage.url, 'SELECT xmin::text FROM warehouse.orders'))[0]?.xmin
  const version = await readVersion()
  const polls = async () =>
    (
      await query<{ pages: number }>(
        stage.url,
        `SELECT sum(runs)::int AS pages FROM tallyman.sync_runs WHERE resource = 'orders'`,
      )
    )[0]?.pages ?? 0
  const runs = await polls()
  await eventually(async () => expect(await polls()).toBeGreaterThan(runs + 1), 60_000)
  expect(await readVersion()).toBe(version)

  // A changed one is, and commands on it still work, by what is known of those before.
  const erasedAgain = {
    ...order,
    parcels: [{ ...parcel, trackingUrl: null, trackingNumber: '1Z0003', lines: [{ lineNumber: '1', quantity: 1 }] }],
  }
  expect(await post(daemon, { id: 'ship-2', type: 'erp.shipment.dispatched', data: erasedAgain })).toBe(202)
  expect(await post(daemon, { id: 'ship', type: 'erp.shipment.dispatched', data: { ...order, parcels: [parcel] } })).toBe(202)
  await commandsSettled()
  await eventually(
    async () => expect(await count(`warehouse.order_lines WHERE line_number = '1' AND shipped = 3`)).toBe(1),
    60_000,
  )
  planter.breakOrder(purchaseOrderId, 'keyless')
  await sandbox.control('POST', '/returns', { purchaseOrderId, lines: [{ lineNumber: '1', quantity: 1 }], travels: false })
  await sandbox.control('POST', '/buyer-cancel', { purchaseOrderId, lineNumber: '2', quantity: 1 })
  await later()
  await untilThereAre(2, 'warehouse.returns')
  await untilThereAre(1, `tallyman.quarantined_records WHERE state = 'open'`)
  expect(await columnsWithTraces()).toEqual([])
  const effects = await sandbox.effects(purchaseOrderId)
  expect(
    effects
      .filter(({ kind, lineNumber }) => kind === 'shipped' && lineNumber === '1')
      .reduce((sum, { quantity }) => sum + quantity, 0),
  ).toBe(3)

  // Whoever reads commands, events, history and changes still can.
  for (const route of [
    `/v1/orders/${purchaseOrderId}?versions=true`,
    `/v1/commands/${late?.id}`,
    '/v1/events',
    '/v1/changes?after=0',
    '/v1/quarantine?state=all',
  ])
    expect((await daemon.call('GET', route)).status, route).toBeLessThan(401)
  expect(await filesWithTraces(dataDir)).toEqual([])
  expect(tracesOfBuyer.filter((trace) => daemon.program.output().toLowerCase().includes(trace))).toEqual([])
})
