import { type LogMovement, movementKinds, type ReasonMap, wordsOf } from '../domain/log-reasons.ts'
import { raiseAlarm, resolveAlarm } from './alarms.ts'
import { recordAct, settingsActor } from './audit.ts'
import type { Database, SqlRunner, Transaction } from './database.ts'
import { oneOf } from './one-of.ts'

/** What a seller's settings say about reasons of the log. */
export const readReasons = async ({ prisma }: SqlRunner, sellerId: string): Promise<ReasonMap> => {
  const rows = await prisma.logReason.findMany({ where: { sellerId, kind: { not: null } }, select: { reason: true, kind: true } })
  return new Map(rows.flatMap(({ reason, kind }) => (kind === null ? [] : [[reason, oneOf(movementKinds, kind)]])))
}

type Reason = Pick<LogMovement, 'transactionReasonCode' | 'transactionReasonDescription'>

/** How an unknown reason is named: by its description, or by its code where it has none. */
const nameOf = ({ transactionReasonCode: code, transactionReasonDescription: description }: Reason): string =>
  wordsOf(description) || wordsOf(code)

const shown = ({ transactionReasonCode: code, transactionReasonDescription: description }: Reason): string =>
  [code, description].filter((text) => text !== null && text !== '').join(': ')

const alarmOf = (sellerId: string, reason: string) => ({ sellerId, kind: 'log-reason-unknown', subject: reason }) as const

/**
 * Notes reasons that no built-in word explains, and calls a person the first time that one comes, unless the settings name its kind. Each is
 * shown once, whatever becomes of the alarm.
 */
export const noteUnknownReasons = async (tx: Transaction, sellerId: string, reasons: readonly Reason[]): Promise<void> => {
  if (reasons.length === 0) return
  const named = new Map(reasons.map((reason) => [nameOf(reason), reason]))
  const fresh = await tx.query<{ reason: string }>(
    `INSERT INTO tallyman.log_reasons (seller_id, reason)
     SELECT $1, t.reason FROM unnest($2::text[], $3::text[]) AS t(reason, code)
     WHERE NOT EXISTS (SELECT 1 FROM tallyman.log_reasons k WHERE k.seller_id = $1 AND k.kind IS NOT NULL AND k.reason IN (t.reason, t.code))
     ORDER BY t.reason
     ON CONFLICT DO NOTHING RETURNING reason`,
    sellerId,
    [...named.keys()],
    [...named.values()].map(({ transactionReasonCode: code }) => wordsOf(code)),
  )
  for (const { reason } of fresh) {
    const text = shown(named.get(reason) ?? { transactionReasonCode: null, transactionReasonDescription: reason })
    await raiseAlarm(
      tx,
      alarmOf(sellerId, reason),
      `the inventory log gives "${text.slice(0, 200)}" as the reason of an adjustment, which is not known, or does not fit units that leave, and counts as other: name its kind in LOG_REASONS (${movementKinds.join(', ')})`,
    )
    tx.record({ sellerId, type: 'inventory_log.unknown_reason', data: { reason: text, countsAs: 'other' } })
  }
}

/** Those sellers whose settings say something else about reasons than was taken over from them last, in one look at all of them. */
export const withOtherReasons = async <Settings extends { readonly sellerId: string; readonly logReasons: ReasonMap }>(
  { prisma }: SqlRunner,
  sellers: readonly Settings[],
): Promise<readonly Settings[]> => {
  const rows = await prisma.logReason.findMany({
    where: { kind: { not: null } },
    select: { sellerId: true, reason: true, kind: true },
  })
  const known = Map.groupBy(rows, ({ sellerId }) => sellerId)
  return sellers.filter(({ sellerId, logReasons }) => {
    const taken = known.get(sellerId) ?? []
    return taken.length !== logReasons.size || taken.some(({ reason, kind }) => logReasons.get(reason) !== kind)
  })
}

/**
 * Takes over what the settings say about reasons; a reason that they no longer name counts as if it had never been named. Returns the reasons
 * that mean something else now: what they concern is to be reviewed.
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
    for (const [reason] of changed) await resolveAlarm(tx, alarmOf(sellerId, reason))
    if (dropped.length + changed.length > 0) {
      const details = { named: Object.fromEntries(changed), dropped }
      const act = { action: 'log_reasons.changed', sellerId, subject: 'LOG_REASONS', reason: null, details } as const
      await recordAct(tx, { by: { actor: settingsActor }, ...act })
    }
    return [...dropped, ...changed.map(([reason]) => reason)]
  })

/** The SKUs and months (`YYYY-MM`) in which entries of the log name one of these reasons. Reads the whole log of the seller. */
export const monthsOfReasons = async (
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
    .filter(({ code, description }) => asked.has(wordsOf(code)) || asked.has(wordsOf(description)))
  if (concerned.length === 0) return []
  return sql.query(
    `SELECT DISTINCT e.sku, to_char(e.transaction_time AT TIME ZONE $3::text, 'YYYY-MM') AS month
     FROM warehouse.inventory_log_entries e
     JOIN json_to_recordset($2::json) AS t(code text, description text)
       ON e.transaction_reason_code IS NOT DISTINCT FROM t.code AND e.transaction_reason_description IS NOT DISTINCT FROM t.description
     WHERE e.seller_id = $1`,
    sellerId,
    JSON.stringify(concerned),
    sql.vocabularyOf(sellerId).calendar.zone,
  )
}
