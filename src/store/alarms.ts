import type { SqlRunner } from './database.ts'

/** What an alarm is about. `subject` names the thing within its kind: a command, an event, a seller's credentials. */
export interface AlarmKey {
  readonly sellerId: string
  readonly kind:
    | 'credentials-refused'
    | 'command-held'
    | 'command-rejected'
    | 'command-waiting'
    | 'event-rejected'
    | 'event-waiting'
    | 'sync-failing'
    | 'reading-skipped'
    | 'campaign-missing'
    | 'campaign-unreadable'
    | 'campaign-anomaly'
    | 'report-faulty'
    | 'log-reason-unknown'
  readonly subject: string
}

/** Raises an alarm; one that is open already keeps its first time and takes the new message. The message says what to do. */
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

/** Resolves an alarm; none open is fine. */
export const resolveAlarm = async (sql: SqlRunner, key: AlarmKey): Promise<void> => {
  await sql.execute(
    `UPDATE tallyman.alarms SET resolved_at = now() WHERE seller_id = $1 AND kind = $2 AND subject = $3 AND resolved_at IS NULL`,
    key.sellerId,
    key.kind,
    key.subject,
  )
}

/** Resolves the open alarms of a kind and subject, but for those of these sellers. */
export const resolveAlarmsOfOthers = async (
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

/** Alarms about the past: only a person can close them, after looking. Other kinds close with their cause. */
const closedByPerson = `kind IN ('command-rejected', 'event-rejected', 'campaign-anomaly', 'log-reason-unknown')`

/** Closes the alarm of a rejected command or event, of a campaign that moved as it should not, or of a reason that nobody has named. */
export const closeAlarm = async (sql: SqlRunner, id: bigint): Promise<'closed' | 'not-found' | 'not-closable'> => {
  const closed = await sql.execute(
    `UPDATE tallyman.alarms SET resolved_at = now() WHERE id = $1 AND ${closedByPerson} AND resolved_at IS NULL`,
    id,
  )
  if (closed > 0) return 'closed'
  return (await sql.prisma.alarm.count({ where: { id } })) > 0 ? 'not-closable' : 'not-found'
}

/** After so many failed runs in a row a person should look. */
const failuresToTell = 5

/** Raises the alarm of a stream that keeps failing, and resolves it once a run has ended well. Writes nothing when nothing changes. */
export const reviewSyncAlarm = async (
  sql: SqlRunner,
  { sellerId, resource, stream }: { readonly sellerId: string; readonly resource: string; readonly stream: string },
): Promise<void> => {
  // One statement, after every run of every stream: an alarm is hardly ever open.
  const [state] = await sql.query<{ failures: number; last_error: string | null; alarmed: boolean }>(
    `SELECT s.failures, s.last_error, EXISTS (SELECT 1 FROM tallyman.alarms a WHERE a.seller_id = s.seller_id
       AND a.kind = 'sync-failing' AND a.subject = s.resource || '/' || s.stream AND a.resolved_at IS NULL) AS alarmed
     FROM tallyman.sync_states s WHERE s.seller_id = $1 AND s.resource = $2 AND s.stream = $3`,
    sellerId,
    resource,
    stream,
  )
  if (state === undefined) return
  const key = { sellerId, kind: 'sync-failing', subject: `${resource}/${stream}` } as const
  if (state.failures >= failuresToTell) {
    await raiseAlarm(
      sql,
      key,
      `${resource} (${stream}) cannot be read, run after run: ${state.last_error ?? 'no reason was kept'}`,
    )
  } else if (state.failures === 0 && state.alarmed) {
    await resolveAlarm(sql, key)
  }
}
