import {
  type ChannelKind,
  channelFailuresToAlarm,
  channelKinds,
  isWithinHours,
  listChannelKinds,
} from '../../domain/alarms/alarm-channels.ts'
import { type AlarmNotice, noticeReasons } from '../../domain/alarms/alarm-message.ts'
import { alarmKinds } from '../../domain/alarms/alarm-rules.ts'
import type { Database, SqlRunner } from '../db/database.ts'
import { parseEnumColumn } from '../db/enum-column.ts'
import { type ChannelRules, channelAlarm, parseRules } from './alarm-channels.ts'
import { raiseAlarm, resolveAlarm } from './alarms.ts'

/** Alarms of one message. The others are in the next one. */
const maxNotices = 1_000

/**
 * SQL: the alarms that are due to channel `$1`: open ones that it gets and was not sent, or was sent more than `$6` hours ago, and those that it was sent and
 * that are over. A silenced alarm is over too when its cause ends.
 */
const dueAlarms = `
  SELECT a.*, CASE WHEN n.alarm_id IS NULL THEN 'new' ELSE 'open' END AS reason
  FROM tallyman.alarms a LEFT JOIN tallyman.alarm_notices n ON n.alarm_id = a.id AND n.channel_id = $1
  WHERE a.resolved_at IS NULL AND (a.kind = ANY ($2::text[]) OR ($3::boolean AND NOT a.kind = ANY ($4::text[])))
    AND (cardinality($5::text[]) = 0 OR a.seller_id = ANY ($5::text[])) AND (a.silenced_until IS NULL OR a.silenced_until <= now())
    AND NOT (a.kind = 'alarm-channel-failing' AND a.subject = $1)
    AND (n.alarm_id IS NULL OR n.sent_at <= now() - make_interval(hours => $6::int))
  UNION ALL
  SELECT a.*, 'over' AS reason FROM tallyman.alarm_notices n JOIN tallyman.alarms a ON a.id = n.alarm_id
  WHERE n.channel_id = $1 AND n.over_at IS NULL AND a.resolved_at IS NOT NULL`

const buildParameters = (id: string, { severities, concerns, sellerIds, repeatHours }: ChannelRules): readonly unknown[] => {
  const { kinds, includesUnknown } = listChannelKinds({ severities, concerns })
  return [id, [...kinds], includesUnknown, [...alarmKinds], [...sellerIds], repeatHours]
}

type RulesRow = Parameters<typeof parseRules>[0]

const rulesColumns = `c.severities, c.concerns, c.seller_ids AS "sellerIds", c.hours, c.repeat_hours AS "repeatHours"`

/** Active channels to which a message is due, by the clock of Postgres. Outside of its hours none is. */
export const findDueChannels = async (sql: SqlRunner): Promise<readonly string[]> => {
  const channels = await sql.query<RulesRow & { id: string; now: Date }>(
    `SELECT c.id, now() AS now, ${rulesColumns} FROM tallyman.alarm_channels c
     WHERE c.state = 'active' AND (c.next_at IS NULL OR c.next_at <= now()) AND (c.lease_until IS NULL OR c.lease_until <= now()) ORDER BY c.id`,
  )
  const due: string[] = []
  for (const { id, now, ...row } of channels) {
    const rules = parseRules(row)
    if (!isWithinHours(rules.hours, now)) continue
    const found = await sql.query(`SELECT 1 FROM (${dueAlarms}) d LIMIT 1`, ...buildParameters(id, rules))
    if (found.length > 0) due.push(id)
  }
  return due
}

/** A channel to which this process sends now. */
export interface ClaimedChannel {
  readonly id: string
  readonly kind: ChannelKind
  readonly address: string
  readonly failures: number
  readonly notices: readonly AlarmNotice[]
}

type NoticeRow = Omit<AlarmNotice, 'reason'> & { readonly reason: string }

/** Takes the lease of a channel with the alarms that are due to it; null: nothing is due to it, or another process sends to it. */
export const claimChannel = async (sql: SqlRunner, id: string, leaseMs: number): Promise<ClaimedChannel | null> => {
  const [channel] = await sql.query<RulesRow & { kind: string; address: string; failures: number; now: Date }>(
    `UPDATE tallyman.alarm_channels c SET lease_until = now() + make_interval(secs => $2::float8 / 1000)
     WHERE c.id = $1 AND c.state = 'active' AND (c.next_at IS NULL OR c.next_at <= now()) AND (c.lease_until IS NULL OR c.lease_until <= now())
     RETURNING c.kind, c.address, c.failures, now() AS now, ${rulesColumns}`,
    id,
    leaseMs,
  )
  if (channel === undefined) return null
  const { kind, address, failures, now, ...row } = channel
  const rules = parseRules(row)
  const rows = isWithinHours(rules.hours, now)
    ? await sql.query<NoticeRow>(
        `SELECT a.id AS "alarmId", a.reason, a.kind, a.subject, a.count, a.due_at AS "dueAt", a.raised_at AS "raisedAt", a.resolved_at AS "resolvedAt",
           CASE WHEN EXISTS (SELECT FROM tallyman.sellers s WHERE s.seller_id = a.seller_id) THEN a.seller_id ELSE '' END AS "sellerId"
         FROM (${dueAlarms}) a ORDER BY a.id LIMIT ${maxNotices}`,
        ...buildParameters(id, rules),
      )
    : []
  if (rows.length === 0) {
    await releaseChannel(sql, id)
    return null
  }
  const notices = rows.map((notice) => ({ ...notice, reason: parseEnumColumn(noticeReasons, notice.reason) }))
  return { id, kind: parseEnumColumn(channelKinds, kind), address, failures, notices }
}

/** Returns a lease. */
export const releaseChannel = async (sql: SqlRunner, id: string): Promise<void> => {
  await sql.execute('UPDATE tallyman.alarm_channels SET lease_until = NULL WHERE id = $1', id)
}

const listIds = (notices: readonly AlarmNotice[], isOver: boolean): readonly string[] =>
  notices.filter(({ reason }) => (reason === 'over') === isOver).map(({ alarmId }) => String(alarmId))

/** Stores that a channel was sent these alarms. `remark`: a part of the message that was not accepted. */
export const settleSent = (database: Database, { id, notices }: ClaimedChannel, remark: string | null): Promise<void> =>
  database.transaction(async (tx) => {
    const channels = await tx.execute(
      `UPDATE tallyman.alarm_channels SET failures = 0, failing_since = NULL, last_error = $2, last_sent_at = now(), next_at = NULL,
         lease_until = NULL WHERE id = $1`,
      id,
      remark,
    )
    // Removed meanwhile.
    if (channels === 0) return
    await resolveAlarm(tx, channelAlarm(id))
    await tx.execute(
      `INSERT INTO tallyman.alarm_notices (channel_id, alarm_id, sent_at)
       SELECT $1, a.id, now() FROM tallyman.alarms a WHERE a.id = ANY ($2::text[]::bigint[])
       ON CONFLICT (channel_id, alarm_id) DO UPDATE SET sent_at = excluded.sent_at`,
      id,
      listIds(notices, false),
    )
    await tx.execute(
      `UPDATE tallyman.alarm_notices SET over_at = now() WHERE channel_id = $1 AND alarm_id = ANY ($2::text[]::bigint[])`,
      id,
      listIds(notices, true),
    )
  })

/** Stores that a message was not sent, and when the next attempt is due; raises the alarm about the channel. */
export const settleUnsent = (
  database: Database,
  { id }: Pick<ClaimedChannel, 'id'>,
  { error, delayMs }: { readonly error: string; readonly delayMs: number },
): Promise<void> =>
  database.transaction(async (tx) => {
    const [channel] = await tx.query<{ failures: number; since: Date }>(
      `UPDATE tallyman.alarm_channels SET failures = failures + 1, failing_since = coalesce(failing_since, now()), last_error = $2,
         next_at = now() + make_interval(secs => $3::float8 / 1000), lease_until = NULL
       WHERE id = $1 RETURNING failures, failing_since AS since`,
      id,
      error,
      delayMs,
    )
    if (channel === undefined || channel.failures < channelFailuresToAlarm) return
    const message = `the channel ${id} has received nothing since ${channel.since.toISOString()} (${error}): correct it, and send a test message`
    await raiseAlarm(tx, channelAlarm(id), message)
  })
