import { type AlarmKind, alarmKinds, findAlarmRule } from '../../domain/alarms/alarm-rules.ts'
import { addOutage } from '../../domain/alarms/marketplace-status.ts'
import { batchQuery } from '../commit/query-batching.ts'
import type { Database, SqlRunner, Transaction } from '../db/database.ts'
import { prepared } from '../db/prepared-statements.ts'
import { type Actor, recordAct } from '../keys/audit.ts'
import { readMarketplaceStatus } from './marketplace-status.ts'

/** What an alarm concerns. `subject` identifies the thing within its kind: a command, an event, a seller's credentials. */
export interface AlarmKey {
  readonly sellerId: string
  readonly kind: AlarmKind
  readonly subject: string
}

/** Raises an alarm; an open one keeps its time and gets the new message. The message states what to do. */
export const raiseAlarm = async (sql: SqlRunner, key: AlarmKey, message: string): Promise<void> => {
  await sql.execute(
    `INSERT INTO tallyman.alarms (seller_id, kind, subject, message) VALUES ($1, $2, $3, $4)
     ON CONFLICT (seller_id, kind, subject) WHERE resolved_at IS NULL
     DO UPDATE SET message = excluded.message WHERE alarms.message <> excluded.message`,
    key.sellerId,
    key.kind,
    key.subject,
    message,
  )
}

/** Resolves an alarm if it is open. */
export const resolveAlarm = async (sql: SqlRunner, key: AlarmKey): Promise<void> => {
  await sql.execute(
    `UPDATE tallyman.alarms SET resolved_at = now() WHERE seller_id = $1 AND kind = $2 AND subject = $3 AND resolved_at IS NULL`,
    key.sellerId,
    key.kind,
    key.subject,
  )
}

/** Resolves the open alarms of a kind and subject of these sellers. */
export const resolveAlarmsOfSellers = async (
  sql: SqlRunner,
  { kind, subject }: Pick<AlarmKey, 'kind' | 'subject'>,
  sellerIds: readonly string[],
): Promise<void> => {
  await sql.execute(
    `UPDATE tallyman.alarms SET resolved_at = now()
     WHERE kind = $1 AND subject = $2 AND resolved_at IS NULL AND seller_id = ANY ($3::text[])`,
    kind,
    subject,
    [...sellerIds],
  )
}

/** Resolves the open alarms of a kind and subject, except those of these sellers. */
export const resolveAlarmsExcept = async (
  sql: SqlRunner,
  { kind, subject }: Pick<AlarmKey, 'kind' | 'subject'>,
  sellerIds: readonly string[],
): Promise<void> => {
  await sql.execute(
    `UPDATE tallyman.alarms SET resolved_at = now()
     WHERE kind = $1 AND subject = $2 AND resolved_at IS NULL AND NOT seller_id = ANY ($3::text[])`,
    kind,
    subject,
    [...sellerIds],
  )
}

/** Kinds of alarms that close with their cause. A person closes the others, and kinds of other versions. */
const closedByCause = alarmKinds.filter((kind) => findAlarmRule(kind).closes === 'cause')

/** An alarm for the change feed. The feed does not contain its message, which may quote an ERP or the marketplace. */
interface FeedRow {
  readonly id: bigint
  readonly seller_id: string
  readonly kind: string
  readonly subject: string
  readonly count: number | null
  readonly due_at: Date | null
  readonly told: number
  readonly resolved_at: Date | null
  readonly served: boolean
}

const feedColumns = `a.id, a.seller_id, a.kind, a.subject, a.count, a.due_at, a.told, a.resolved_at,
  EXISTS (SELECT FROM tallyman.sellers s WHERE s.seller_id = a.seller_id) AS served`

const feedData = ({ id, kind, subject, count, due_at }: FeedRow) => {
  const { severity, concerns, title, namesSubject } = findAlarmRule(kind)
  const dueAt = due_at?.toISOString() ?? null
  return { alarmId: String(id), kind, severity, concerns, title, subject: namesSubject ? subject : null, count, dueAt }
}

/** Records in the feed that an alarm was raised and resolved, unless recorded before. Omits a seller that only an event has named. */
const recordInFeed = (tx: Transaction, row: FeedRow, by: string | null): void => {
  const sellerId = row.served ? row.seller_id : ''
  if (row.told === 0) tx.record({ sellerId, type: 'alarm.raised', data: feedData(row) })
  if (row.resolved_at !== null && row.told < 2) tx.record({ sellerId, type: 'alarm.resolved', data: { ...feedData(row), by } })
}

const batchSize = 500

/** Records in the feed the alarms that were raised or resolved since the last call, in order, each once. Returns whether there may be more. */
export const recordAlarmChanges = (database: Database): Promise<boolean> =>
  database.transaction(async (tx) => {
    const rows = await tx.query<FeedRow>(
      `SELECT ${feedColumns} FROM tallyman.alarms a WHERE a.told < CASE WHEN a.resolved_at IS NULL THEN 1 ELSE 2 END
       ORDER BY a.id LIMIT ${batchSize} FOR UPDATE OF a SKIP LOCKED`,
    )
    if (rows.length === 0) return false
    for (const row of rows) recordInFeed(tx, row, null)
    await tx.execute(
      `UPDATE tallyman.alarms SET told = CASE WHEN resolved_at IS NULL THEN 1 ELSE 2 END WHERE id = ANY ($1::text[]::bigint[])`,
      rows.map(({ id }) => String(id)),
    )
    return rows.length === batchSize
  })

/** Closes every open alarm of a seller on behalf of a person, and records it in the feed; returns their number. */
export const closeAlarmsOfSeller = async (
  tx: Transaction,
  sellerId: string,
  { actor, reason }: { readonly actor: string; readonly reason: string },
): Promise<number> => {
  const closed = await tx.execute(
    `UPDATE tallyman.alarms SET resolved_at = now(), resolved_by = $2, resolved_reason = $3 WHERE seller_id = $1 AND resolved_at IS NULL`,
    sellerId,
    actor,
    reason,
  )
  // Also earlier alarms that are not in the feed yet: after the removal of the seller the feed could not name it.
  const unrecorded = await tx.query<FeedRow & { readonly resolved_by: string | null }>(
    `SELECT ${feedColumns}, a.resolved_by FROM tallyman.alarms a WHERE a.seller_id = $1 AND a.told < 2 ORDER BY a.id FOR UPDATE OF a`,
    sellerId,
  )
  for (const row of unrecorded) recordInFeed(tx, row, row.resolved_by)
  await tx.prisma.alarm.updateMany({ where: { sellerId, told: { lt: 2 } }, data: { told: 2 } })
  return closed
}

/** An action of a person on an alarm. */
export interface AlarmAct {
  readonly id: bigint
  readonly by: Actor
  readonly reason: string | null
}

/** Closes an alarm on behalf of a person, unless its kind closes with its cause. */
export const closeAlarm = (database: Database, { id, by, reason }: AlarmAct): Promise<'closed' | 'not-found' | 'not-closable'> =>
  database.transaction(async (tx) => {
    const [closed] = await tx.query<FeedRow>(
      `UPDATE tallyman.alarms a SET resolved_at = now(), resolved_by = $2, resolved_reason = $3
       WHERE a.id = $1 AND NOT a.kind = ANY ($4::text[]) AND a.resolved_at IS NULL RETURNING ${feedColumns}`,
      id,
      by.actor,
      reason,
      closedByCause,
    )
    if (closed === undefined) return (await tx.prisma.alarm.count({ where: { id } })) > 0 ? 'not-closable' : 'not-found'
    const { seller_id: sellerId, kind } = closed
    await tx.prisma.alarm.update({ where: { id }, data: { told: 2 } })
    recordInFeed(tx, closed, by.actor)
    await recordAct(tx, { by, action: 'alarm.closed', sellerId, subject: String(id), reason, details: { kind } })
    return 'closed'
  })

/**
 * Silences an open alarm until a time: it stays open, and counts as silenced. A later alarm of the same kind and subject is silenced too until that
 * time. A time in the past ends the silence.
 */
export const silenceAlarm = (
  database: Database,
  { id, by, reason, until }: AlarmAct & { readonly until: Date },
): Promise<'silenced' | 'not-found' | 'not-open'> =>
  database.transaction(async (tx) => {
    const [silenced] = await tx.query<FeedRow>(
      `UPDATE tallyman.alarms a SET silenced_until = $2::timestamptz, silenced_by = $3, silenced_reason = $4
       WHERE a.id = $1 AND a.resolved_at IS NULL RETURNING ${feedColumns}`,
      id,
      until.toISOString(),
      by.actor,
      reason,
    )
    if (silenced === undefined) return (await tx.prisma.alarm.count({ where: { id } })) > 0 ? 'not-open' : 'not-found'
    const { seller_id: sellerId, kind } = silenced
    if (silenced.told === 0) await tx.prisma.alarm.update({ where: { id }, data: { told: 1 } })
    recordInFeed(tx, silenced, null)
    const data = { ...feedData(silenced), until: until.toISOString(), by: by.actor }
    tx.record({ sellerId: silenced.served ? sellerId : '', type: 'alarm.silenced', data })
    const details = { kind, until: until.toISOString() }
    await recordAct(tx, { by, action: 'alarm.silenced', sellerId, subject: String(id), reason, details })
    return 'silenced'
  })

/** Open alarms of a kind. */
export interface OpenAlarms {
  readonly kind: string
  /** Not silenced. */
  readonly open: number
  readonly silenced: number
}

/** Numbers of open alarms by kind; kinds without open alarms are omitted. */
export const countOpenAlarms = (sql: SqlRunner): Promise<readonly OpenAlarms[]> =>
  sql.query<OpenAlarms>(
    `SELECT kind, (count(*) FILTER (WHERE silenced_until IS NULL OR silenced_until <= now()))::int AS open,
       (count(*) FILTER (WHERE silenced_until > now()))::int AS silenced
     FROM tallyman.alarms WHERE resolved_at IS NULL GROUP BY kind`,
  )

/** The alarm is raised after this many failed runs in a row. */
const failuresToAlarm = 5

interface FailingStream {
  readonly failures: number
  readonly last_error: string | null
  readonly alarmed: boolean
}

const selectFailures = prepared(
  `SELECT a.place::int AS place, s.failures, s.last_error, EXISTS (SELECT 1 FROM tallyman.alarms l WHERE l.seller_id = s.seller_id
     AND l.kind = 'sync-failing' AND l.subject = s.resource || '/' || s.stream AND l.resolved_at IS NULL) AS alarmed
   FROM unnest($1::text[], $2::text[], $3::text[]) WITH ORDINALITY AS a(seller_id, resource, stream, place)
   JOIN tallyman.sync_states s USING (seller_id, resource, stream)
   WHERE s.failures > 0 OR EXISTS (SELECT 1 FROM tallyman.alarms l WHERE l.seller_id = s.seller_id AND l.kind = 'sync-failing'
     AND l.subject = s.resource || '/' || s.stream AND l.resolved_at IS NULL)`,
)

/** Failures of each stream; null: no failures and no open alarm, which is the usual case after a run. */
const readFailures = batchQuery(
  async (
    sql: SqlRunner,
    streams: readonly { readonly sellerId: string; readonly resource: string; readonly stream: string }[],
  ): Promise<readonly (FailingStream | null)[]> => {
    const rows = await sql.query<FailingStream & { place: number }>(
      selectFailures,
      streams.map(({ sellerId }) => sellerId),
      streams.map(({ resource }) => resource),
      streams.map(({ stream }) => stream),
    )
    const byPlace = new Map(rows.map((row) => [row.place, row]))
    return streams.map((_stream, index) => byPlace.get(index + 1) ?? null)
  },
)

/** Raises the alarm of a stream that keeps failing, and resolves it after a successful run. Writes only changes. */
export const reviewSyncAlarm = async (
  sql: SqlRunner,
  { sellerId, resource, stream }: { readonly sellerId: string; readonly resource: string; readonly stream: string },
): Promise<void> => {
  const state = await readFailures(sql, { sellerId, resource, stream })
  if (state === null) return
  const key = { sellerId, kind: 'sync-failing', subject: `${resource}/${stream}` } as const
  if (state.failures >= failuresToAlarm) {
    const message = `${resource} (${stream}) cannot be read, run after run: ${state.last_error ?? 'no error was recorded'}`
    const reported = await readMarketplaceStatus(sql, [sellerId])
    await raiseAlarm(sql, key, addOutage(message, resource, reported.get(sellerId) ?? []))
  } else if (state.failures === 0 && state.alarmed) {
    await resolveAlarm(sql, key)
  }
}

/** Writes the open alarms of failing streams of these sellers again, with the outages that their marketplace reports now. */
export const renewSyncAlarms = async (sql: SqlRunner, sellerIds: readonly string[]): Promise<void> => {
  const open = await sql.query<{ sellerId: string; resource: string; stream: string }>(
    `SELECT seller_id AS "sellerId", split_part(subject, '/', 1) AS resource, substr(subject, strpos(subject, '/') + 1) AS stream
     FROM tallyman.alarms WHERE kind = 'sync-failing' AND resolved_at IS NULL AND seller_id = ANY ($1::text[])`,
    [...sellerIds],
  )
  await Promise.all(open.map((key) => reviewSyncAlarm(sql, key)))
}
