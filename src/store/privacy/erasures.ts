import { erpEventTypes } from '../../domain/events/event-shape.ts'
import type { JsonObject, JsonValue } from '../../domain/values/json.ts'
import { erasedRawText } from '../../domain/values/redaction.ts'
import { isObject } from '../../domain/values/values.ts'
import { numberChanges } from '../changes/change-numbers.ts'
import { isOpenCommand } from '../commands/commands.ts'
import type { Database, Transaction } from '../db/database.ts'
import { retryOnDeadlock } from '../db/errors.ts'
import { type Actor, recordAct } from '../keys/audit.ts'
import { buyerResources, containsNumber, type ErasedKind, lockErasure } from './erased-records.ts'

/** A request to erase the buyer of a customer order. */
export interface ErasureRequest extends Actor {
  readonly sellerId: string
  /** The marketplace's id of the customer order, which consists of one or several purchase orders. */
  readonly customerOrderId: string
  readonly reason: string
}

/** What an erasure changed, or would change. */
export interface Erasure {
  readonly sellerId: string
  readonly customerOrderId: string
  readonly purchaseOrderIds: readonly string[]
  readonly returnOrderIds: readonly string[]
  /** Purchase orders with units that are neither shipped nor cancelled. The warehouse must get their address from another source. */
  readonly openPurchaseOrderIds: readonly string[]
  /** Numbers of changed rows by table. */
  readonly rows: Readonly<Record<string, number>>
  /** Its entry in `tallyman.audit_entries`; null: a dry run. */
  readonly auditId: bigint | null
}

/** An unsettled command or event, which needs the data to erase. */
export interface UnsettledItem {
  readonly what: 'command' | 'event'
  /** Of an event: its source and id. */
  readonly name: string
  readonly purchaseOrderId: string
  readonly state: string
}

/** The result of an erasure. */
export type ErasureResult =
  | { readonly ok: true; readonly erasure: Erasure }
  | { readonly ok: false; readonly fault: 'not-found' }
  /** The reason is stored permanently, so it must not name the erased buyer. */
  | { readonly ok: false; readonly fault: 'reason-names-buyer' }
  | { readonly ok: false; readonly fault: 'unsettled'; readonly unsettled: readonly UnsettledItem[] }

/** Replaces a text that may have named the buyer. */
const erasedText = 'erased'
const erasureTimeoutMs = 110_000

/** Rolls the transaction back and carries its result. */
class RolledBack extends Error {
  override readonly name = 'RolledBack'
  readonly result: ErasureResult
  constructor(result: ErasureResult) {
    super('nothing was erased')
    this.result = result
  }
}

/**
 * Erases a buyer from all stored data of one customer order: orders, returns, earlier versions, quarantine, events, commands with their attempts and
 * decisions, alarms and changes. Units, money, dates and ids stay. Later records of it are stored without the buyer. Rejected while a command or an event
 * of it is unsettled, because these need the data. Idempotent.
 *
 * @param mode `dry-run`: changes nothing, and returns what would change
 */
export const eraseBuyer = async (
  database: Database,
  request: ErasureRequest,
  mode: 'dry-run' | 'erase' = 'erase',
): Promise<ErasureResult> => {
  try {
    return await retryOnDeadlock(() =>
      database.transaction(
        async (tx) => {
          const result = await erase(tx, request, () => numberChanges(database))
          if (!result.ok) throw new RolledBack(result)
          if (mode === 'dry-run') throw new RolledBack({ ok: true, erasure: { ...result.erasure, auditId: null } })
          return result
        },
        { timeoutMs: erasureTimeoutMs },
      ),
    )
  } catch (error) {
    if (error instanceof RolledBack) return error.result
    throw error
  }
}

/** @param number numbers the recorded changes in a transaction of its own, so that they are erased in `warehouse.changes` */
const erase = async (tx: Transaction, request: ErasureRequest, number: () => Promise<void>): Promise<ErasureResult> => {
  const { sellerId, customerOrderId } = request
  await lockErasure(tx, sellerId)
  const found = await find(tx, sellerId, customerOrderId)
  if (found === null) return { ok: false, fault: 'not-found' }
  const unsettled = await findUnsettled(tx, found)
  if (unsettled.length > 0) return { ok: false, fault: 'unsettled', unsettled }
  const words = await readBuyerWords(tx, found)
  if (words.some((word) => request.reason.toLowerCase().includes(word))) return { ok: false, fault: 'reason-names-buyer' }
  await number()
  const rows: Record<string, number> = {}
  for (const [table, statement, ...parameters] of buildStatements(found, words, request.actor)) {
    rows[table] = (rows[table] ?? 0) + (await tx.execute(statement, ...parameters))
  }
  for (const [table, count] of await eraseCommands(tx, found)) rows[table] = count
  await recordErased(tx, found)
  const auditId = await audit(tx, request, found, rows)
  recordChanges(tx, found)
  const { purchaseOrderIds, returnOrderIds, openPurchaseOrderIds } = found
  return {
    ok: true,
    erasure: { sellerId, customerOrderId, purchaseOrderIds, returnOrderIds, openPurchaseOrderIds, rows, auditId },
  }
}

/** Ids of the rows of a customer order; orders and returns are locked. */
interface Found {
  readonly sellerId: string
  readonly customerOrderId: string
  readonly purchaseOrderIds: readonly string[]
  readonly openPurchaseOrderIds: readonly string[]
  readonly returnOrderIds: readonly string[]
  readonly quarantinedIds: readonly bigint[]
  readonly commandIds: readonly string[]
  /** Rejected events that name it in any field. */
  readonly rejectedEvents: { readonly sources: readonly string[]; readonly ids: readonly string[] }
}

const ids = <Row extends { readonly id: string }>(rows: readonly Row[]): string[] => rows.map(({ id }) => id)

const find = async (tx: Transaction, sellerId: string, customerOrderId: string): Promise<Found | null> => {
  const quarantinedFirst = await tx.query<{ resource: string; id: string }>(
    `SELECT resource, record_key AS id FROM tallyman.quarantined_records
     WHERE seller_id = $1 AND resource IN (${buyerResources}) AND skipped IS NULL AND record_key IS NOT NULL
       AND position($2 IN raw_text) > 0 AND ${containsNumber('raw_text', '$2')}`,
    sellerId,
    customerOrderId,
  )
  const listQuarantined = (resource: string) => ids(quarantinedFirst.filter((row) => row.resource === resource))
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
      listQuarantined('orders'),
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
  const returnOrderIds = [...new Set([...ids(storedReturns), ...listQuarantined('returns')])].sort()
  const quarantined = await tx.query<{ id: bigint }>(
    `SELECT id FROM tallyman.quarantined_records q
     WHERE seller_id = $1 AND resource IN (${buyerResources}) AND skipped IS NULL AND EXISTS (
       SELECT FROM unnest($2::text[]) AS n(number) WHERE record_key = number
         OR (position(number IN raw_text) > 0 AND ${containsNumber('raw_text', 'number')}))`,
    sellerId,
    [customerOrderId, ...purchaseOrderIds, ...returnOrderIds],
  )
  if (purchaseOrderIds.length === 0 && returnOrderIds.length === 0 && quarantined.length === 0) return null
  const commands = await tx.query<{ id: string }>(
    `SELECT id FROM tallyman.commands WHERE seller_id = $1 AND purchase_order_id = ANY($2::text[])`,
    sellerId,
    purchaseOrderIds,
  )
  // An invalid event may name its order in another field, in another format, or for an unknown seller.
  const rejected = await tx.query<{ source: string; id: string }>(
    `SELECT source, id FROM tallyman.erp_event e
     WHERE status = 'rejected'
       AND (seller_id = $1 OR seller_id IS NULL OR NOT EXISTS (SELECT FROM tallyman.sellers s WHERE s.seller_id = e.seller_id))
       AND EXISTS (SELECT FROM unnest($2::text[]) AS n(number)
         WHERE position(number IN data::text) > 0 AND ${containsNumber('data::text', 'number')})`,
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

// Events of a purchase order: those of its commands, and those that name it. $1 seller, $2 purchase orders, $3 commands.
const ofEvents = `((e.seller_id = $1 OR e.seller_id IS NULL) AND tallyman.normal_id(e.data -> 'purchaseOrderId') = ANY($2::text[])
  OR EXISTS (SELECT FROM tallyman.commands c WHERE c.event_source = e.source AND c.event_id = e.id AND c.id = ANY($3::text[])))`

// Also rejected events that name it in another field: $4 their sources, $5 their ids.
const ofEventsOrRejected = `(${ofEvents} OR (e.source, e.id) IN (SELECT * FROM unnest($4::text[], $5::text[])))`

const findUnsettled = (tx: Transaction, { sellerId, purchaseOrderIds, commandIds }: Found): Promise<UnsettledItem[]> =>
  tx.query<UnsettledItem>(
    `SELECT 'command' AS what, id AS name, purchase_order_id AS "purchaseOrderId", state FROM tallyman.commands c
     WHERE id = ANY($3::text[]) AND ${isOpenCommand('c')}
     UNION ALL SELECT 'event', e.source || ' ' || e.id, tallyman.normal_id(e.data -> 'purchaseOrderId'), e.status
     FROM tallyman.erp_event e WHERE e.status = 'received' AND ${ofEvents}
     ORDER BY 1, 2 LIMIT 20`,
    sellerId,
    purchaseOrderIds,
    commandIds,
  )

/** Shorter words, such as a state, also occur within other words. */
const minWordLength = 4

/** Words of the buyer's data, in lower case; texts that stay must not contain them. */
const readBuyerWords = async (tx: Transaction, { sellerId, purchaseOrderIds }: Found): Promise<string[]> => {
  const rows = await tx.query<{ word: string }>(
    `SELECT DISTINCT lower(btrim(word)) AS word FROM warehouse.orders o,
       LATERAL (SELECT unnest(ARRAY[customer_name, customer_email, customer_phone]) UNION
         SELECT value FROM jsonb_each_text(CASE jsonb_typeof(shipping_address) WHEN 'object' THEN shipping_address ELSE '{}' END)
         WHERE key NOT IN ('addressType', 'country', 'state')) AS words(word)
     WHERE seller_id = $1 AND purchase_order_id = ANY($2::text[]) AND char_length(btrim(word)) >= ${minWordLength}`,
    sellerId,
    purchaseOrderIds,
  )
  return rows.map(({ word }) => word)
}

/** SQL: the text contains one of the words of a parameter. */
const containsWord = (text: string, words: string): string =>
  `EXISTS (SELECT FROM unnest(${words}::text[]) AS w(word) WHERE position(word IN lower(${text})) > 0 AND ${containsNumber(`lower(${text})`, 'word')})`

/** SQL: the part of an event's data that stays: the ids of the order and its seller, if valid. */
const eventWithout = `jsonb_strip_nulls(jsonb_build_object(
  'purchaseOrderId', CASE WHEN tallyman.normal_id(e.data -> 'purchaseOrderId') = ANY($2::text[]) THEN e.data -> 'purchaseOrderId' END,
  'sellerId', CASE WHEN e.data -> 'sellerId' = to_jsonb($1::text) THEN e.data -> 'sellerId' END, 'erased', true))`

/** SQL: the seller was never served here, so its id may be any text. $1 is the seller whose buyer is erased. */
const unknownSeller = (sellerId: string): string =>
  `(${sellerId} NOT IN ($1, '') AND NOT EXISTS (SELECT FROM tallyman.sellers s WHERE s.seller_id = ${sellerId}))`

/** SQL: the type of an event does not exist, so it may be any text. */
const unknownType = (type: string): string =>
  `${type} NOT IN (${[...erpEventTypes, erasedText].map((known) => `'${known}'`).join(', ')})`

type Statement = readonly [table: string, sql: string, ...parameters: unknown[]]

/** The statements in their order: alarms and audit entries are found by the events that name the order, before those are erased. */
const buildStatements = (found: Found, words: readonly string[], actor: string): readonly Statement[] => [
  ...buildRecordStatements(found, words),
  ...buildChangeStatements(found, words),
  ...buildOperationStatements(found, words, actor),
]

const raw = `'${erasedRawText}'::jsonb`
const ofOrders = 'seller_id = $1 AND purchase_order_id = ANY($2::text[])'
const ofReturns = 'seller_id = $1 AND return_order_id = ANY($2::text[])'

/** Orders, returns and their parts. */
const buildRecordStatements = (
  { sellerId, purchaseOrderIds, returnOrderIds }: Found,
  words: readonly string[],
): readonly Statement[] => {
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
         cancellation_reason = CASE WHEN ${containsWord('cancellation_reason', '$3')} THEN '${erasedText}' ELSE cancellation_reason END
       WHERE ${ofOrders} AND raw <> ${raw}`,
      ...orders,
      words,
    ],
    [
      'warehouse.shipments',
      `UPDATE warehouse.shipments SET tracking_url = NULL WHERE ${ofOrders} AND tracking_url IS NOT NULL`,
      ...orders,
    ],
    plain('warehouse.returns'),
    [
      'warehouse.return_lines',
      `UPDATE warehouse.return_lines SET raw = ${raw},
         return_reason = CASE WHEN ${containsWord('return_reason', '$3')} THEN '${erasedText}' ELSE return_reason END
       WHERE ${ofReturns} AND raw <> ${raw}`,
      ...returns,
      words,
    ],
    plain('warehouse.return_line_tracking_statuses'),
    plain('warehouse.return_line_refund_channels'),
  ]
}

/** The change feed, and earlier versions of orders and returns. */
const buildChangeStatements = (
  { sellerId, purchaseOrderIds, returnOrderIds, rejectedEvents }: Found,
  words: readonly string[],
): readonly Statement[] => {
  const orders = [sellerId, purchaseOrderIds] as const
  return [
    [
      'warehouse.changes',
      // Searched as JSON text, in which some characters are escaped.
      `UPDATE warehouse.changes SET data = CASE WHEN ${containsWord('data::text', '$3')} THEN ${raw} ELSE data - '{reason,errors}'::text[] END
       WHERE ${ofOrders} AND (data ?| '{reason,errors}' OR ${containsWord('data::text', '$3')})`,
      ...orders,
      words.map((word) => JSON.stringify(word).slice(1, -1)),
    ],
    // Changes of rejected events that do not name the order in its field, and so are changes of another order, or of none.
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
  ]
}

/** Audit entries, quarantine, proposals, alarms and events. */
const buildOperationStatements = (
  { sellerId, purchaseOrderIds, returnOrderIds, commandIds, quarantinedIds, rejectedEvents }: Found,
  words: readonly string[],
  actor: string,
): readonly Statement[] => {
  const events = [sellerId, purchaseOrderIds, commandIds, rejectedEvents.sources, rejectedEvents.ids] as const
  return [
    [
      'tallyman.audit_entries',
      `UPDATE tallyman.audit_entries SET reason = '${erasedText}'
       WHERE seller_id = $1 AND reason <> '${erasedText}' AND action <> 'buyer.erased' AND (
         (action LIKE 'command.%' AND subject = ANY($2::text[])) OR (action LIKE 'record.%' AND subject = ANY($3::text[]))
         OR (action LIKE 'event.%' AND EXISTS (SELECT FROM tallyman.erp_event e WHERE e.source || ' ' || e.id = subject
           AND tallyman.normal_id(e.data -> 'purchaseOrderId') = ANY($4::text[])))
         OR (action LIKE 'event.%' AND subject IN (SELECT source || ' ' || id FROM unnest($5::text[], $6::text[]) AS n(source, id)))
         OR ${containsWord('reason', '$7')})`,
      sellerId,
      commandIds,
      quarantinedIds.map(String),
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
      quarantinedIds,
      actor,
    ],
    [
      'tallyman.event_proposals',
      `UPDATE tallyman.event_proposals e SET data = ${eventWithout}, reason = '${erasedText}',
         decision_reason = CASE WHEN e.decision_reason IS NOT NULL THEN '${erasedText}' END,
         decided_by = coalesce(e.decided_by, $4), decided_at = coalesce(e.decided_at, now()),
         state = CASE e.state WHEN 'open' THEN 'rejected' ELSE e.state END
       WHERE e.seller_id = $1 AND e.reason <> '${erasedText}'
         AND (tallyman.normal_id(e.data -> 'purchaseOrderId') = ANY($2::text[]) OR tallyman.normal_id(e.data -> 'returnOrderId') = ANY($3::text[]))`,
      sellerId,
      purchaseOrderIds,
      returnOrderIds,
      actor,
    ],
    // Before the events, which still name the order and the unknown seller. The alarm of waiting events is raised again if others of that seller wait.
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

const erasePayload = (payload: JsonValue): JsonValue => {
  const { parcels, replacement, lines } = fields(payload)
  if (isObject(replacement))
    return {
      ...fields(payload),
      replacement: { ...replacement, trackingUrl: null },
      lines: items(lines).map((line) => ({ ...fields(line), method: null })),
    }
  if (!Array.isArray(parcels)) return payload
  return {
    ...fields(payload),
    parcels: parcels.map((parcel) => ({ ...fields(parcel), trackingUrl: null, method: null })),
  }
}

const eraseParts = (parts: JsonValue): JsonValue => {
  const { applied, open } = fields(parts)
  return {
    ...fields(parts),
    applied: items(applied).map((part) => ({ ...fields(part), payload: erasePayload(fields(part)['payload'] ?? null) })),
    open: open === undefined || open === null ? null : erasePayload(open),
  }
}

const eraseEvidence = (evidence: JsonValue): JsonValue => ({
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
        payload: erasePayload(payload),
        parts: orNull(parts, eraseParts),
        evidence: orNull(evidence, eraseEvidence),
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
    JSON.stringify(decisions.map(({ id, evidence }) => ({ id: String(id), evidence: orNull(evidence, eraseEvidence) }))),
  )
  return [
    ['tallyman.commands', commandRows],
    ['tallyman.command_attempts', attemptRows],
    ['tallyman.command_decisions', decisionRows],
  ]
}

const recordErased = async (
  tx: Transaction,
  { sellerId, customerOrderId, purchaseOrderIds, returnOrderIds }: Found,
): Promise<void> => {
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

// Systems that have copied the buyer's data read these changes and erase their copy.
const recordChanges = (tx: Transaction, { sellerId, customerOrderId, purchaseOrderIds, returnOrderIds }: Found): void => {
  for (const purchaseOrderId of purchaseOrderIds) {
    tx.record({ sellerId, type: 'order.erased', purchaseOrderId, data: { customerOrderId } })
  }
  for (const returnOrderId of returnOrderIds) {
    tx.record({ sellerId, type: 'return.erased', returnOrderId, data: { customerOrderId } })
  }
}
