import { type LogMovement, movementKinds, normalizeWords, type ReasonMap } from '../../domain/inventory/log-reasons.ts'
import { raiseAlarm, resolveAlarm } from '../alarms/alarms.ts'
import type { Database, SqlRunner, Transaction } from '../db/database.ts'
import { parseEnumColumn } from '../db/enum-column.ts'
import { recordAct, settingsActor } from '../keys/audit.ts'

/** The kinds of reasons of the log according to a seller's settings. */
export const readReasons = async ({ prisma }: SqlRunner, sellerId: string): Promise<ReasonMap> => {
  const rows = await prisma.logReason.findMany({ where: { sellerId, kind: { not: null } }, select: { reason: true, kind: true } })
  return new Map(rows.flatMap(({ reason, kind }) => (kind === null ? [] : [[reason, parseEnumColumn(movementKinds, kind)]])))
}

type Reason = Pick<LogMovement, 'transactionReasonCode' | 'transactionReasonDescription'>

/** The name of an unknown reason: its description, or its code if it has none. */
const buildName = ({ transactionReasonCode: code, transactionReasonDescription: description }: Reason): string =>
  normalizeWords(description) || normalizeWords(code)

const shown = ({ transactionReasonCode: code, transactionReasonDescription: description }: Reason): string =>
  [code, description].filter((text) => text !== null && text !== '').join(': ')

const alarmKey = (sellerId: string, reason: string) => ({ sellerId, kind: 'log-reason-unknown', subject: reason }) as const

/** Stores unknown reasons, and raises an alarm once for each new one, unless the settings name its kind. */
export const recordUnknownReasons = async (tx: Transaction, sellerId: string, reasons: readonly Reason[]): Promise<void> => {
  if (reasons.length === 0) return
  const named = new Map(reasons.map((reason) => [buildName(reason), reason]))
  const fresh = await tx.query<{ reason: string }>(
    `INSERT INTO tallyman.log_reasons (seller_id, reason)
     SELECT $1, t.reason FROM unnest($2::text[], $3::text[]) AS t(reason, code)
     WHERE NOT EXISTS (SELECT 1 FROM tallyman.log_reasons k WHERE k.seller_id = $1 AND k.kind IS NOT NULL AND k.reason IN (t.reason, t.code))
     ORDER BY t.reason
     ON CONFLICT DO NOTHING RETURNING reason`,
    sellerId,
    [...named.keys()],
    [...named.values()].map(({ transactionReasonCode: code }) => normalizeWords(code)),
  )
  for (const { reason } of fresh) {
    const text = shown(named.get(reason) ?? { transactionReasonCode: null, transactionReasonDescription: reason })
    await raiseAlarm(
      tx,
      alarmKey(sellerId, reason),
      `the inventory log has the reason "${text.slice(0, 200)}" for an adjustment; it is unknown, or does not fit outgoing units, and counts as other: name its kind in LOG_REASONS (${movementKinds.join(', ')})`,
    )
    tx.record({ sellerId, type: 'inventory_log.unknown_reason', data: { reason: text, countsAs: 'other' } })
  }
}

/** The sellers whose settings of reasons differ from the stored ones, by one statement. */
export const findChangedReasons = async <Settings extends { readonly sellerId: string; readonly logReasons: ReasonMap }>(
  { prisma }: SqlRunner,
  sellers: readonly Settings[],
): Promise<readonly Settings[]> => {
  const rows = await prisma.logReason.findMany({
    where: { kind: { not: null } },
    select: { sellerId: true, reason: true, kind: true },
  })
  const known = Map.groupBy(rows, ({ sellerId }) => sellerId)
  return sellers.filter(({ sellerId, logReasons }) => {
    const stored = known.get(sellerId) ?? []
    return stored.length !== logReasons.size || stored.some(({ reason, kind }) => logReasons.get(reason) !== kind)
  })
}

/**
 * Stores the reasons of the settings, and removes those that the settings no longer name. Returns the reasons whose kind has changed; their entries must be
 * reviewed.
 */
export const recordReasons = (database: Database, sellerId: string, reasons: ReasonMap): Promise<readonly string[]> =>
  database.transaction(async (tx) => {
    const known = await readReasons(tx, sellerId)
    const dropped = [...known.keys()].filter((reason) => !reasons.has(reason))
    const changed = [...reasons].filter(([reason, kind]) => known.get(reason) !== kind)
    if (dropped.length > 0) {
      await tx.prisma.logReason.deleteMany({ where: { sellerId, reason: { in: dropped } } })
    }
    if (changed.length > 0) {
      await tx.execute(
        `INSERT INTO tallyman.log_reasons (seller_id, reason, kind)
         SELECT $1, t.reason, t.kind FROM unnest($2::text[], $3::text[]) AS t(reason, kind) ORDER BY t.reason
         ON CONFLICT (seller_id, reason) DO UPDATE SET kind = excluded.kind`,
        sellerId,
        changed.map(([reason]) => reason),
        changed.map(([, kind]) => kind),
      )
    }
    for (const [reason] of changed) await resolveAlarm(tx, alarmKey(sellerId, reason))
    if (dropped.length + changed.length > 0) {
      const details = { named: Object.fromEntries(changed), dropped }
      const act = { action: 'log_reasons.changed', sellerId, subject: 'LOG_REASONS', reason: null, details } as const
      await recordAct(tx, { by: { actor: settingsActor }, ...act })
    }
    return [...dropped, ...changed.map(([reason]) => reason)]
  })

/** The SKUs and months (`YYYY-MM`) with entries of these reasons. Reads the whole log of the seller. */
export const findMonthsOfReasons = async (
  sql: SqlRunner,
  sellerId: string,
  reasons: readonly string[],
): Promise<readonly { readonly sku: string; readonly month: string }[]> => {
  const asked = new Set(reasons)
  const used = await sql.prisma.inventoryLogEntry.groupBy({
    by: ['transactionReasonCode', 'transactionReasonDescription'],
    where: { sellerId },
  })
  const concerned = used
    .map(({ transactionReasonCode: code, transactionReasonDescription: description }) => ({ code, description }))
    .filter(({ code, description }) => asked.has(normalizeWords(code)) || asked.has(normalizeWords(description)))
  if (concerned.length === 0) return []
  return sql.query(
    `SELECT DISTINCT e.sku, to_char(e.transaction_time AT TIME ZONE $3::text, 'YYYY-MM') AS month
     FROM warehouse.inventory_log_entries e
     JOIN json_to_recordset($2::json) AS t(code text, description text)
       ON e.transaction_reason_code IS NOT DISTINCT FROM t.code AND e.transaction_reason_description IS NOT DISTINCT FROM t.description
     WHERE e.seller_id = $1`,
    sellerId,
    JSON.stringify(concerned),
    sql.findVocabulary(sellerId).calendar.zone,
  )
}
