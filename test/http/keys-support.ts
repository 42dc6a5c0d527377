import { watchCampaigns } from '../../src/store/campaigns/watched-campaigns.ts'
import type { Database } from '../../src/store/db/database.ts'
import { reviewDiscrepancies } from '../../src/store/inventory/discrepancies.ts'
import { recordSellers } from '../../src/store/sellers/sellers.ts'
import { logReadUpTo, storeLog, storeReport } from '../store/support/inventory.ts'
import { buildDispatch, cloudEvent, reportedParcel } from '../support/events.ts'
import { listAt, membersAt, textAt } from '../support/json.ts'
import { orderLine, purchaseOrder } from '../support/orders.ts'
import { seedOrder } from '../support/store.ts'
import type { TestServer } from './support.ts'

/** Of each seller one of everything, by the names that the routes have for it. */
export interface Planted {
  readonly order: string
  readonly customerOrder: string
  readonly command: string
  readonly event: string
  readonly waitingEvent: string
  readonly record: string
  readonly alarm: string
  readonly campaign: string
  readonly claim: string
  readonly proposal: string
}

const findId = async (database: Database, sql: string, ...parameters: readonly unknown[]): Promise<string> => {
  const [row] = await database.query<{ id: bigint }>(sql, ...parameters)
  return String(row?.id)
}

/** A seller with one of everything; an order may be one that another seller has too. */
export const plant = async (
  database: Database,
  server: TestServer,
  sellerId: string,
  ownOrder: string,
  authorization: string,
): Promise<Planted> => {
  await recordSellers(database, [{ sellerId, credentialsFingerprint: 'f' }])
  await seedOrder(database, sellerId, purchaseOrder(ownOrder, [orderLine('1', 'A', 9)]))
  const event = `${sellerId}-accepted`
  const data = { sellerId, purchaseOrderId: ownOrder }
  const posted = await server.json('/v1/events', {
    method: 'POST',
    headers: { 'content-type': 'application/cloudevents+json', authorization },
    body: JSON.stringify(cloudEvent(buildDispatch(data, event, reportedParcel(event, { sku: 'A', quantity: 1 })))),
  })
  const waitingEvent = `${sellerId}-waiting`
  await database.execute(
    `INSERT INTO tallyman.erp_event (source, id, type, data) VALUES ('urn:erp', $1, 'erp.order.accepted', $2::jsonb)`,
    waitingEvent,
    JSON.stringify({ sellerId, purchaseOrderId: `9${ownOrder}` }),
  )
  await database.execute(
    `INSERT INTO tallyman.sync_states (seller_id, resource, stream) VALUES ($1, 'orders', 'changed')`,
    sellerId,
  )
  await storeReport(database, sellerId, '2026-03', '2026-04-01T07:00:00Z', [
    { sku: 'A', beginning: 20, ending: 15, lost: 2, sold: 3 },
  ])
  await storeLog(database, sellerId, [{ sku: 'A', id: '1', kind: 'lost', changedUnits: -1, at: '2026-03-05T12:00:00Z' }])
  await logReadUpTo(database, sellerId, '2026-04-02T00:00:00Z', 'A')
  await database.transaction((tx) => reviewDiscrepancies(tx, sellerId, [{ sku: 'A', month: '2026-03' }]))
  await database.execute(
    `INSERT INTO warehouse.stock_on_hand (seller_id, sku, available_units, raw_hash, raw, observed_at, first_seen_at, changed_at)
     VALUES ($1, 'A', 15, '\\x00', '{}', now(), now(), now())`,
    sellerId,
  )
  await database.execute(
    `INSERT INTO warehouse.stock_differences (seller_id, sku, counted_units, balance_units, as_of, opening_units, opening_at)
     VALUES ($1, 'A', 15, 14, '2026-04-02', 15, '2026-04-01')`,
    sellerId,
  )
  await database.execute(
    `INSERT INTO warehouse.settlement_differences (seller_id, kind, difference_key, expected_amount, paid_amount, line_keys)
     VALUES ($1, 'never-paid', '1', 17, 0, '{}')`,
    sellerId,
  )
  await database.execute(
    `INSERT INTO warehouse.claim_payments (seller_id, line_key, problem, reimburses, amount, report_date)
     VALUES ($1, '2026-04-11/2', 'no-sku', 'lost', 4.99, '2026-04-11')`,
    sellerId,
  )
  await database.execute(
    `INSERT INTO warehouse.inbound_shipment_lines (seller_id, shipment_id, sku, sent_units, shipped_at, expected_by)
     VALUES ($1, '1WFA', 'A', 10, '2026-03-01', '2026-03-31')`,
    sellerId,
  )
  await database.execute(
    `INSERT INTO tallyman.drift (seller_id, operation, kind, path, example, count) VALUES ($1, 'orders.list', 'field', 'loyaltyTier', 'object', 1)`,
    sellerId,
  )
  const campaign = `campaign-of-${sellerId}`
  await watchCampaigns(database, sellerId, [campaign], 'operator')
  return {
    order: ownOrder,
    customerOrder: `C-${ownOrder}`,
    command: textAt(posted.body, 'items', 0, 'commands', 0),
    event,
    waitingEvent,
    record: await findId(
      database,
      `INSERT INTO tallyman.quarantined_records (seller_id, resource, raw_hash, raw_text, fault, observed_at)
       VALUES ($1, 'orders', decode(md5($1), 'hex'), '[]', 'no key', now()) RETURNING id`,
      sellerId,
    ),
    alarm: await findId(
      database,
      `INSERT INTO tallyman.alarms (seller_id, kind, subject, message) VALUES ($1, 'event-rejected', $1, 'look') RETURNING id`,
      sellerId,
    ),
    campaign,
    proposal: await findId(
      database,
      `INSERT INTO tallyman.event_proposals (seller_id, type, data, reason, proposed_by)
       VALUES ($1, 'erp.inbound.shipped', $2::jsonb, 'it left today', 'assistant') RETURNING id`,
      sellerId,
      JSON.stringify({ sellerId, shipmentId: '2WFA', shippedAt: '2026-03-01T10:00:00Z', lines: [{ sku: 'A', quantity: 1 }] }),
    ),
    claim: await findId(database, 'SELECT id FROM warehouse.claims WHERE seller_id = $1 ORDER BY id LIMIT 1', sellerId),
  }
}

/** Every operation of the document that needs a key, with what it says to need. */
export const readOperations = (
  document: unknown,
): readonly { readonly name: string; readonly method: string; readonly path: string; readonly scope: string }[] =>
  Object.entries(membersAt(document, 'paths')).flatMap(([path, methods]) =>
    Object.entries(membersAt(methods)).flatMap(([method, operation]) => {
      const [first = {}] = listAt(operation, 'security')
      if (!('apiKey' in membersAt(first))) return []
      const scope = textAt(first, 'apiKey', 0)
      return [{ name: `${method.toUpperCase()} ${path}`, method: method.toUpperCase(), path, scope }]
    }),
  )
