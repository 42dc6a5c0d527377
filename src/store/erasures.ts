import { erpEventTypes } from '../domain/event-shape.ts'
import type { JsonObject, JsonValue } from '../domain/json.ts'
import { erasedRawText } from '../domain/redaction.ts'
import { isObject } from '../domain/values.ts'
import { type Acting, recordAct } from './audit.ts'
import type { Database, Transaction } from './database.ts'
import { type ErasedKind, eraseAlone, namesNumber, resourcesWithBuyers } from './erased-records.ts'
import { retryOnDeadlock } from './faults.ts'

/** Whose buyer is to be erased, who wants it, and why. */
export interface ErasureRequest extends Acting {
  readonly sellerId: string
  /** The marketplace's number of what the buyer ordered; one or several purchase orders belong to it. */
  readonly customerOrderId: string
  readonly reason: string
}

/** What an erasure took, or would take. */
export interface Erasure {
  readonly sellerId: string
  readonly customerOrderId: string
  readonly purchaseOrderIds: readonly string[]
  readonly returnOrderIds: readonly string[]
  /** Those of the purchase orders of which units are neither shipped nor cancelled: the warehouse needs the address from elsewhere to ship them. */
  readonly openPurchaseOrderIds: readonly string[]
  /** Rows that held something, by table. */
  readonly rows: Readonly<Record<string, number>>
  /** Its entry in `tallyman.audit_entries`; null: nothing was erased, only looked at. */
  readonly auditId: bigint | null
}

/** Something that is not decided yet and needs what would be erased. */
export interface UnderWay {
  readonly what: 'command' | 'event'
  /** Of an event: its source and id. */
  readonly name: string
  readonly purchaseOrderId: string
  readonly state: string
}

/** How an erasure went. */
export type ErasureResult =
  | { readonly ok: true; readonly erasure: Erasure }
  | { readonly ok: false; readonly fault: 'not-found' }
  /** The reason is kept for ever, so it must not name the erased buyer. */
  | { readonly ok: false; readonly fault: 'reason-names-buyer' }
  | { readonly ok: false; readonly fault: 'under-way'; readonly underWay: readonly UnderWay[] }

/** Replaces a sentence that may have named the buyer. */
const erasedText = 'erased'
const erasureTimeoutMs = 110_000

/** Ends the transaction without leaving a trace. */
class Undone extends Error {
  override readonly name = 'Undone'
  readonly result: ErasureResult
  constructor(result: ErasureResult) {
    super('nothing was erased')
    this.result = result
  }
}

/**
 * Takes a buyer out of everything that is stored of one customer order: orders, returns, earlier versions, quarantine, events, commands with
 * their attempts and decisions, alarms and changes. Units, money, dates and numbers stay. What comes of it later is stored without the buyer.
 * Refused while a command or an event of it is not settled: those need what would be erased. May be done again at any time.
 *
 * @param only `look`: nothing is changed, the answer says what would be.
 */
export const eraseBuyer = async (
  database: Database,
  request: ErasureRequest,
  only: 'look' | 'erase' = 'erase',
): Promise<ErasureResult> => {
  try {
    return await retryOnDeadlock(() =>
      database.transaction(
        async (tx) => {
          const result = await erase(tx, request)
          if (!result.ok) throw new Undone(result)
          if (only === 'look') throw new Undone({ ok: true, erasure: { ...result.erasure, auditId: null } })
          return result
        },
        { timeoutMs: erasureTimeoutMs },
      ),
    )
  } catch (error) {
    if (error instanceof Undone) return error.result
    throw error
  }
}

const erase = async (tx: Transaction, request: ErasureRequest): Promise<ErasureResult> => {
  const { sellerId, customerOrderId } = request
  await eraseAlone(tx, sellerId)
  const found = await find(tx, sellerId, customerOrderId)
  if (found === null) return { ok: false, fault: 'not-found' }
  const underWay = await findUnderWay(tx, found)
  if (underWay.length > 0) return { ok: false, fault: 'under-way', underWay }
  const words = await wordsOfBuyer(tx, found)
  if (words.some((word) => request.reason.toLowerCase().includes(word))) return { ok: false, fault: 'reason-names-buyer' }
  const rows: Record<string, number> = {}
  for (const [table, statement, ...parameters] of statements(found, words, request.actor)) {
    rows[table] = (rows[table] ?? 0) + (await tx.execute(statement, ...parameters))
  }
  for (const [table, count] of await eraseCommands(tx, found)) rows[table] = count
  await mark(tx, found)
  const auditId = await audit(tx, request, found, rows)
  tellErased(tx, found)
  const { purchaseOrderIds, returnOrderIds, openPurchaseOrderIds } = found
  return {
    ok: true,
    erasure: { sellerId, customerOrderId, purchaseOrderIds, returnOrderIds, openPurchaseOrderIds, rows, auditId },
  }
}

/** All that belongs to a customer order; orders and returns are locked. */
interface Found {
  readonly sellerId: string
  readonly customerOrderId: string
  readonly purchaseOrderIds: readonly string[]
  readonly openPurchaseOrderIds: readonly string[]
  readonly returnOrderIds: readonly string[]
  readonly quarantinedIds: readonly bigint[]
  readonly commandIds: readonly string[]
  /** Rejected events that name it anywhere, also where no order is looked for. */
  readonly rejectedEvents: { readonly sources: readonly string[]; readonly ids: readonly string[] }
}

const ids = <Row extends { readonly id: string }>(rows: readonly Row[]): string[] => rows.map(({ id }) => id)

const find = async (tx: Transaction, sellerId: string, customerOrderId: string): Promise<Found | null> => {
  const quarantinedFirst = await tx.query<{ resource: string; id: string }>(
    `SELECT resource, record_key AS id FROM tallyman.quarantined_records
     WHERE seller_id = $1 AND resource IN (${resourcesWithBuyers}) AND skipped IS NULL AND record_key IS NOT NULL
       AND position($2 IN raw_text) > 0 AND ${namesNumber('raw_text', '$2')}`,
    sellerId,
    customerOrderId,
  )
  const unread = (resource: string) => ids(quarantinedFirst.filter((row) => row.resource === resource))
  // A return names purchase orders that may not be stored.
  const purchaseOrderIds = ids(
    await tx.query<{ id: string }>(
      `SELECT purchase_order_id AS id FROM warehouse.orders WHERE seller_id = $1 AND customer_order_id = $2
       UNION SELECT l.purchase_order_id FROM warehouse.returns r JOIN warehouse.return_lines l USING (seller_id, return_order_id)
       WHERE r.seller_id = $1 AND r.customer_order_id = $2 AND l.purchase_order_id IS NOT NULL AND NOT EXISTS (
         SELECT FROM warehouse.orders o WHERE o.seller_id = l.seller_id AND o.purchase_order_id = l.purchase_order_id
           AND o.customer_order_id <> $2)
       UNION SELECT unnest($3::text[]) ORDER BY 1`,
      sellerId,
      customerOrderId,
      unread('orders'),
    ),
  )
  const stored = await tx.query<{ id: string; open: boolean }>(
    `SELECT purchase_order_id AS id, open FROM warehouse.orders WHERE seller_id = $1 AND purchase_order_id = ANY($2::text[])
     ORDER BY purchase_order_id FOR UPDATE`,
    sellerId,
    purchaseOrderIds,
  )
  const storedReturns = await tx.query<{ id: string }>(
    `SELECT return_order_id AS id FROM warehouse.returns r WHERE seller_id = $1 AND (customer_order_id = $2 OR EXISTS (
       SELECT FROM warehouse.return_lines l WHERE l.seller_id = r.seller_id AND l.return_order_id = r.return_order_id
         AND l.purchase_order_id = ANY($3::text[])))
     ORDER BY return_order_id FOR UPDATE`,
    sellerId,
    customerOrderId,
    purchaseOrderIds,
  )
  const returnOrderIds = [...new Set([...ids(storedReturns), ...unread('returns')])].sort()
  const quarantined = await tx.query<{ id: bigint }>(
    `SELECT id FROM tallyman.quarantined_records q
     WHERE seller_id = $1 AND resource IN (${resourcesWithBuyers}) AND skipped IS NULL AND EXISTS (
       SELECT FROM unnest($2::text[]) AS n(number) WHERE record_key = number
         OR (position(number IN raw_text) > 0 AND ${namesNumber('raw_text', 'number')}))`,
    sellerId,
    [customerOrderId, ...purchaseOrderIds, ...returnOrderIds],
  )
  if (purchaseOrderIds.length === 0 && returnOrderIds.length === 0 && quarantined.length === 0) return null
  const commands = await tx.query<{ id: string }>(
    `SELECT id FROM tallyman.commands WHERE seller_id = $1 AND purchase_order_id = ANY($2::text[])`,
    sellerId,
    purchaseOrderIds,
  )
  // One that was wrong may name its order in another field, in another form, or for a seller whom nobody knows.
  const rejected = await tx.query<{ source: string; id: string }>(
    `SELECT source, id FROM tallyman.erp_event e
     WHERE status = 'rejected'
       AND (seller_id = $1 OR seller_id IS NULL OR NOT EXISTS (SELECT FROM tallyman.sellers s WHERE s.seller_id = e.seller_id))
       AND EXISTS (SELECT FROM unnest($2::text[]) AS n(number)
         WHERE position(number IN data::text) > 0 AND ${namesNumber('data::text', 'number')})`,
    sellerId,
    [customerOrderId, ...purchaseOrderIds, ...returnOrderIds],
  )
  return {
    sellerId,
    customerOrderId,
    purchaseOrderIds,
    openPurchaseOrderIds: ids(stored.filter(({ open }) => open)),
    returnOrderIds,
    quarantinedIds: quarantined.map(({ id }) => id),
    commandIds: ids(commands),
    rejectedEvents: { sources: rejected.map(({ source }) => source), ids: ids(rejected) },
  }
}

// Events of a purchase order: those that became its commands, and those that name it. $1 seller, $2 purchase orders, $3 commands.
const ofEvents = `((e.seller_id = $1 OR e.seller_id IS NULL) AND tallyman.normal_id(e.data -> 'purchaseOrderId') = ANY($2::text[])
  OR EXISTS (SELECT FROM tallyman.commands c WHERE c.event_source = e.source AND c.event_id = e.id AND c.id = ANY($3::text[])))`

// Besides, rejected ones that name it elsewhere: $4 their sources, $5 their ids.
const ofEventsOrRejected = `(${ofEvents} OR (e.source, e.id) IN (SELECT * FROM unnest($4::text[], $5::text[])))`

const findUnderWay = (tx: Transaction, { sellerId, purchaseOrderIds, commandIds }: Found): Promise<UnderWay[]> =>
  tx.query<UnderWay>(
    `SELECT 'command' AS what, id AS name, purchase_order_id AS "purchaseOrderId", state FROM tallyman.commands
     WHERE id = ANY($3::text[]) AND state NOT IN ('confirmed', 'rejected')
     UNION ALL SELECT 'event', e.source || ' ' || e.id, tallyman.normal_id(e.data -> 'purchaseOrderId'), e.status
     FROM tallyman.erp_event e WHERE e.status = 'received' AND ${ofEvents}
     ORDER BY 1, 2 LIMIT 20`,
    sellerId,
    purchaseOrderIds,
    commandIds,
  )

/** Shorter ones, such as a state, are found in other words too. */
const shortestWord = 4

/** What is known of the buyer, in lower case: sentences that stay must not hold any of it. */
const wordsOfBuyer = async (tx: Transaction, { sellerId, purchaseOrderIds }: Found): Promise<string[]> => {
  const rows = await tx.query<{ word: string }>(
    `SELECT DISTINCT lower(btrim(word)) AS word FROM warehouse.orders o,
       LATERAL (SELECT unnest(ARRAY[customer_name, customer_email, customer_phone]) UNION
         SELECT value FROM jsonb_each_text(CASE jsonb_typeof(shipping_address) WHEN 'object' THEN shipping_address ELSE '{}' END)
         WHERE key NOT IN ('addressType', 'country', 'state')) AS words(word)
     WHERE seller_id = $1 AND purchase_order_id = ANY($2::text[]) AND char_length(btrim(word)) >= ${shortestWord}`,
    sellerId,
    purchaseOrderIds,
  )
  return rows.map(({ word }) => word)
}

/** A condition of SQL: a text holds one of the words of a parameter. */
const holdsWord = (text: string, words: string): string =>
  `EXISTS (SELECT FROM unnest(${words}::text[]) AS w(word) WHERE position(word IN lower(${text})) > 0 AND ${namesNumber(`lower(${text})`, 'word')})`

/** What stays of an event's data: the fields that name the order and its seller, if they hold nothing else. */
const eventWithout = `jsonb_strip_nulls(jsonb_build_object(
  'purchaseOrderId', CASE WHEN tallyman.normal_id(e.data -> 'purchaseOrderId') = ANY($2::text[]) THEN e.data -> 'purchaseOrderId' END,
  'sellerId', CASE WHEN e.data -> 'sellerId' = to_jsonb($1::text) THEN e.data -> 'sellerId' END, 'erased', true))`

/** A condition of SQL: this names a seller that was never served here, so it may be any words. $1 is the seller whose buyer is erased. */
const unknownSeller = (sellerId: string): string =>
  `(${sellerId} NOT IN ($1, '') AND NOT EXISTS (SELECT FROM tallyman.sellers s WHERE s.seller_id = ${sellerId}))`

/** A condition of SQL: this is the type of no event, so it may be any words. */
const unknownType = (type: string): string =>
  `${type} NOT IN (${[...erpEventTypes, erasedText].map((known) => `'${known}'`).join(', ')})`

type Statement = readonly [table: string, sql: string, ...parameters: unknown[]]

const statements = (found: Found, words: readonly string[], actor: string): readonly Statement[] => {
  const { sellerId, purchaseOrderIds, returnOrderIds, commandIds, rejectedEvents } = found
  const events = [sellerId, purchaseOrderIds, commandIds, rejectedEvents.sources, rejectedEvents.ids] as const
  const raw = `'${erasedRawText}'::jsonb`
  const ofOrders = 'seller_id = $1 AND purchase_order_id = ANY($2::text[])'
  const ofReturns = 'seller_id = $1 AND return_order_id = ANY($2::text[])'
  const orders = [sellerId, purchaseOrderIds] as const
  const returns = [sellerId, returnOrderIds] as const
  const plain = (table: string): Statement => [
    table,
    `UPDATE ${table} SET raw = ${raw} WHERE ${ofReturns} AND raw <> ${raw}`,
    ...returns,
  ]
  return [
    [
      'warehouse.orders',
      `UPDATE warehouse.orders SET customer_name = NULL, customer_email = NULL, customer_phone = NULL, shipping_address = NULL, raw = ${raw}
       WHERE ${ofOrders} AND raw <> ${raw}`,
      ...orders,
    ],
    ['warehouse.order_lines', `UPDATE warehouse.order_lines SET raw = ${raw} WHERE ${ofOrders} AND raw <> ${raw}`, ...orders],
    [
      'warehouse.order_line_statuses',
      `UPDATE warehouse.order_line_statuses SET raw = ${raw}, tracking_url = NULL,
         cancellation_reason = CASE WHEN ${holdsWord('cancellation_reason', '$3')} THEN '${erasedText}' ELSE cancellation_reason END
       WHERE ${ofOrders} AND raw <> ${raw}`,
      ...orders,
      words,
    ],
    plain('warehouse.returns'),
    [
      'warehouse.return_lines',
      `UPDATE warehouse.return_lines SET raw = ${raw},
         return_reason = CASE WHEN ${holdsWord('return_reason', '$3')} THEN '${erasedText}' ELSE return_reason END
       WHERE ${ofReturns} AND raw <> ${raw}`,
      ...returns,
      words,
    ],
    plain('warehouse.return_line_tracking_statuses'),
    plain('warehouse.return_line_refund_channels'),
    [
      'warehouse.changes',
      // Looked through as JSON text, in which some characters are escaped.
      `UPDATE warehouse.changes SET data = CASE WHEN ${holdsWord('data::text', '$3')} THEN ${raw} ELSE data - '{reason,errors}'::text[] END
       WHERE ${ofOrders} AND (data ?| '{reason,errors}' OR ${holdsWord('data::text', '$3')})`,
      ...orders,
      words.map((word) => JSON.stringify(word).slice(1, -1)),
    ],
    // Told of a rejected event that does not name its order where orders are looked for: under another number, or none.
    ...(rejectedEvents.ids.length === 0
      ? []
      : [
          [
            'warehouse.changes',
            `UPDATE warehouse.changes c SET seller_id = CASE WHEN ${unknownSeller('c.seller_id')} THEN '' ELSE c.seller_id END,
               data = CASE WHEN ${unknownType("data ->> 'type'")} THEN jsonb_set(data, '{type}', '"${erasedText}"') ELSE data END - '{reason,errors}'::text[]
             WHERE type = 'event.rejected' AND (data ->> 'source', data ->> 'id') IN (SELECT * FROM unnest($2::text[], $3::text[]))
               AND (data ?| '{reason,errors}' OR ${unknownSeller('c.seller_id')} OR ${unknownType("data ->> 'type'")})`,
            sellerId,
            rejectedEvents.sources,
            rejectedEvents.ids,
          ] satisfies Statement,
        ]),
    ...(
      [
        ['orders', purchaseOrderIds],
        ['returns', returnOrderIds],
      ] as const
    ).map(
      ([resource, keys]): Statement => [
        'tallyman.superseded_versions',
        'DELETE FROM tallyman.superseded_versions WHERE seller_id = $1 AND resource = $2 AND record_key = ANY($3::text[])',
        sellerId,
        resource,
        keys,
      ],
    ),
    [
      'tallyman.audit_entries',
      `UPDATE tallyman.audit_entries SET reason = '${erasedText}'
       WHERE seller_id = $1 AND reason <> '${erasedText}' AND action <> 'buyer.erased' AND (
         (action LIKE 'command.%' AND subject = ANY($2::text[])) OR (action LIKE 'record.%' AND subject = ANY($3::text[]))
         OR (action LIKE 'event.%' AND EXISTS (SELECT FROM tallyman.erp_event e WHERE e.source || ' ' || e.id = subject
           AND tallyman.normal_id(e.data -> 'purchaseOrderId') = ANY($4::text[])))
         OR (action LIKE 'event.%' AND subject IN (SELECT source || ' ' || id FROM unnest($5::text[], $6::text[]) AS n(source, id)))
         OR ${holdsWord('reason', '$7')})`,
      sellerId,
      commandIds,
      found.quarantinedIds.map(String),
      purchaseOrderIds,
      rejectedEvents.sources,
      rejectedEvents.ids,
      words,
    ],
    [
      'tallyman.quarantined_records',
      `UPDATE tallyman.quarantined_records SET raw_text = '${erasedRawText}', fault = '${erasedText}', retry_at = NULL,
         dismissed_by = CASE state WHEN 'open' THEN $2 ELSE dismissed_by END,
         dismissed_reason = CASE WHEN state = 'open' OR dismissed_reason IS NOT NULL THEN '${erasedText}' END,
         state = CASE state WHEN 'open' THEN 'dismissed' ELSE state END
       WHERE id = ANY($1::bigint[]) AND raw_text <> '${erasedRawText}'`,
      found.quarantinedIds,
      actor,
    ],
    // While the events still name their order, and the seller that there is none of. That one's alarm is raised again where others of it wait.
    [
      'tallyman.alarms',
      `UPDATE tallyman.alarms a SET message = '${erasedText}',
         silenced_reason = CASE WHEN a.silenced_reason IS NOT NULL THEN '${erasedText}' END,
         resolved_reason = CASE WHEN a.resolved_reason IS NOT NULL THEN '${erasedText}' END,
         seller_id = CASE WHEN ${unknownSeller('a.seller_id')} THEN '' ELSE a.seller_id END,
         resolved_at = CASE a.kind WHEN 'event-waiting' THEN coalesce(a.resolved_at, now()) ELSE a.resolved_at END
       WHERE (a.message <> '${erasedText}' OR a.silenced_reason <> '${erasedText}' OR a.resolved_reason <> '${erasedText}'
         OR ${unknownSeller('a.seller_id')}) AND (
         (a.kind LIKE 'command-%' AND a.subject = ANY($3::text[]))
         OR (a.kind = 'event-waiting' AND ${unknownSeller('a.seller_id')} AND EXISTS (SELECT FROM tallyman.erp_event e
           WHERE ${ofEventsOrRejected} AND e.seller_id = a.seller_id))
         OR (a.kind = 'event-rejected' AND EXISTS (SELECT FROM tallyman.erp_event e WHERE ${ofEventsOrRejected} AND (a.subject = e.source || ' ' || e.id
           OR right(a.subject, 64) = encode(sha256(convert_to(e.source || ' ' || e.id, 'UTF8')), 'hex')))))`,
      ...events,
    ],
    [
      'tallyman.erp_event',
      `UPDATE tallyman.erp_event e SET waits_for = NULL, data = ${eventWithout},
         type = CASE WHEN ${unknownType('e.type')} THEN '${erasedText}' ELSE e.type END,
         seller_id = CASE WHEN ${unknownSeller('e.seller_id')} THEN NULL ELSE e.seller_id END,
         problem = CASE WHEN e.problem IS NOT NULL THEN e.problem || '{"detail": "${erasedText}", "errors": []}' END
       WHERE ${ofEventsOrRejected} AND (e.data <> ${eventWithout} OR ${unknownType('e.type')} OR ${unknownSeller('e.seller_id')})`,
      ...events,
    ],
  ]
}

const fields = (value: JsonValue | undefined): JsonObject => (isObject(value) ? value : {})
const items = (value: JsonValue | undefined): readonly JsonValue[] => (Array.isArray(value) ? value : [])

const pick = (value: JsonValue | undefined, ...names: readonly string[]): JsonObject => {
  const from = fields(value)
  return Object.fromEntries(names.flatMap((name) => (from[name] === undefined ? [] : [[name, from[name]]])))
}

const erasedPayload = (payload: JsonValue): JsonValue => {
  const { parcels } = fields(payload)
  if (!Array.isArray(parcels)) return payload
  return {
    ...fields(payload),
    parcels: parcels.map((parcel) => ({ ...fields(parcel), trackingUrl: null, method: null })),
  }
}

const erasedParts = (parts: JsonValue): JsonValue => {
  const { applied, open } = fields(parts)
  return {
    ...fields(parts),
    applied: items(applied).map((part) => ({ ...fields(part), payload: erasedPayload(fields(part)['payload'] ?? null) })),
    open: open === undefined || open === null ? null : erasedPayload(open),
  }
}

const erasedEvidence = (evidence: JsonValue): JsonValue => ({
  ...pick(evidence, 'verdict', 'ruledOut'),
  lines: items(fields(evidence)['lines']).map((line) => pick(line, 'lineNumber', 'finding', 'maybeOurs', 'underOurMark')),
})

const orNull = (value: JsonValue, change: (value: JsonValue) => JsonValue): JsonValue => (value === null ? null : change(value))

const eraseCommands = async (
  tx: Transaction,
  { commandIds }: Found,
): Promise<readonly (readonly [table: string, rows: number])[]> => {
  const ofCommands = { commandId: { in: [...commandIds] } }
  const commands = await tx.prisma.command.findMany({
    where: { id: ofCommands.commandId },
    select: { id: true, payload: true, parts: true, evidence: true },
  })
  const commandRows = await tx.execute(
    `UPDATE tallyman.commands c SET payload = t.payload, parts = NULLIF(t.parts, 'null'), evidence = NULLIF(t.evidence, 'null'),
       reason = CASE WHEN c.reason IS NOT NULL THEN '${erasedText}' END
     FROM jsonb_to_recordset($1::jsonb) AS t(id text, payload jsonb, parts jsonb, evidence jsonb) WHERE c.id = t.id AND ((c.payload, c.parts, c.evidence)
       IS DISTINCT FROM (t.payload, NULLIF(t.parts, 'null'), NULLIF(t.evidence, 'null')) OR c.reason <> '${erasedText}')`,
    JSON.stringify(
      commands.map(({ id, payload, parts, evidence }) => ({
        id,
        payload: erasedPayload(payload),
        parts: orNull(parts, erasedParts),
        evidence: orNull(evidence, erasedEvidence),
      })),
    ),
  )
  const attempts = await tx.prisma.commandAttempt.findMany({
    where: ofCommands,
    select: { id: true, failure: true, readBacks: true },
  })
  const attemptRows = await tx.execute(
    `UPDATE tallyman.command_attempts a SET request = '${erasedRawText}', failure = NULLIF(t.failure, 'null'), read_backs = t.read_backs
     FROM jsonb_to_recordset($1::jsonb) AS t(id bigint, failure jsonb, read_backs jsonb) WHERE a.id = t.id AND a.request <> '${erasedRawText}'`,
    JSON.stringify(
      attempts.map(({ id, failure, readBacks }) => ({
        id: String(id),
        failure: orNull(failure, (value) => pick(value, 'kind', 'sent', 'httpStatus', 'networkCode', 'alreadyDone')),
        read_backs: items(readBacks).map((readBack) => pick(readBack, 'at', 'correlationId', 'verdict')),
      })),
    ),
  )
  const decisions = await tx.prisma.commandDecision.findMany({ where: ofCommands, select: { id: true, evidence: true } })
  const decisionRows = await tx.execute(
    `UPDATE tallyman.command_decisions d SET reason = '${erasedText}', evidence = NULLIF(t.evidence, 'null')
     FROM jsonb_to_recordset($1::jsonb) AS t(id bigint, evidence jsonb) WHERE d.id = t.id AND d.reason <> '${erasedText}'`,
    JSON.stringify(decisions.map(({ id, evidence }) => ({ id: String(id), evidence: orNull(evidence, erasedEvidence) }))),
  )
  return [
    ['tallyman.commands', commandRows],
    ['tallyman.command_attempts', attemptRows],
    ['tallyman.command_decisions', decisionRows],
  ]
}

const mark = async (tx: Transaction, { sellerId, customerOrderId, purchaseOrderIds, returnOrderIds }: Found): Promise<void> => {
  const records: readonly (readonly [ErasedKind, string])[] = [
    ['customer-order', customerOrderId],
    ...purchaseOrderIds.map((id) => ['purchase-order', id] as const),
    ...returnOrderIds.map((id) => ['return', id] as const),
  ]
  await tx.prisma.erasedRecord.createMany({
    data: records.map(([kind, recordId]) => ({ sellerId, kind, recordId })),
    skipDuplicates: true,
  })
}

const audit = (
  tx: Transaction,
  request: ErasureRequest,
  { sellerId, customerOrderId, purchaseOrderIds, returnOrderIds }: Found,
  rows: Readonly<Record<string, number>>,
): Promise<bigint> => {
  const details = { purchaseOrderIds: [...purchaseOrderIds], returnOrderIds: [...returnOrderIds], rows: { ...rows } }
  return recordAct(tx, {
    by: request,
    action: 'buyer.erased',
    sellerId,
    subject: customerOrderId,
    reason: request.reason,
    details,
  })
}

// A system that has copied the buyer from here learns to remove the copy too.
const tellErased = (tx: Transaction, { sellerId, customerOrderId, purchaseOrderIds, returnOrderIds }: Found): void => {
  for (const purchaseOrderId of purchaseOrderIds) {
    tx.record({ sellerId, type: 'order.erased', purchaseOrderId, data: { customerOrderId } })
  }
  for (const returnOrderId of returnOrderIds) {
    tx.record({ sellerId, type: 'return.erased', returnOrderId, data: { customerOrderId } })
  }
}
