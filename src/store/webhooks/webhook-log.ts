import type { JsonValue } from '../../domain/values/json.ts'
import { raiseAlarm } from '../alarms/alarms.ts'
import type { SqlRunner, Transaction } from '../db/database.ts'
import { parseEnumColumn } from '../db/enum-column.ts'
import { buildPage, isOrAny, type ListPage } from '../db/page.ts'
import { alarmKey, deliversChange, deliverySubject, firstUndelivered } from './webhook-deliveries.ts'
import { resolveWebhookAlarms, webhooksChannel } from './webhook-endpoints.ts'

/** `pending`: waits for its next attempt; `failed`: given up after the last attempt of the schedule, or a failed test. */
export const deliveryStatuses = ['pending', 'delivered', 'failed'] as const
/** One of {@link deliveryStatuses}. */
export type DeliveryStatus = (typeof deliveryStatuses)[number]

/** Maximum number of messages of one redelivery by range. */
const maxRedelivered = 10_000

/** A message of the delivery log. */
export interface LoggedDelivery {
  readonly id: bigint
  /** Null: a test. */
  readonly changeSequence: bigint | null
  readonly status: DeliveryStatus
  /** Attempts of the current schedule. */
  readonly attempt: number
  /** Time of the last attempt. */
  readonly at: Date | null
  readonly nextAt: Date | null
  readonly httpStatus: number | null
  readonly error: string | null
  /** The last attempts, oldest first, as stored. */
  readonly attempts: JsonValue
  readonly createdAt: Date
}

/** Messages of an endpoint, newest first, before this id. */
export const listDeliveries = async (
  { prisma }: SqlRunner,
  filter: { readonly endpointId: string; readonly status: DeliveryStatus | null; readonly changeSequence: bigint | null },
  before: bigint | null,
  limit: number,
): Promise<ListPage<LoggedDelivery, bigint>> => {
  const rows = await prisma.webhookDelivery.findMany({
    where: {
      endpointId: filter.endpointId,
      status: isOrAny(filter.status),
      changeSequence: isOrAny(filter.changeSequence),
      id: before === null ? {} : { lt: before },
    },
    orderBy: { id: 'desc' },
    take: limit + 1,
    omit: { endpointId: true, subject: true, firstAt: true },
  })
  return buildPage(
    rows.map((row): LoggedDelivery => ({ ...row, status: parseEnumColumn(deliveryStatuses, row.status) })),
    limit,
    ({ id }) => id,
  )
}

const restart = `status = 'pending', attempt = 0, first_at = NULL, next_at = now()`

/** Resends messages by id. Returns the ids of those that cannot be resent: unknown ones, tests, and those whose change was removed. */
export const redeliverByIds = async (
  tx: Transaction,
  endpointId: string,
  ids: readonly bigint[],
): Promise<{ readonly redelivered: number; readonly missing: readonly bigint[] }> => {
  const rows = await tx.query<{ id: bigint }>(
    `UPDATE tallyman.webhook_deliveries d SET ${restart}
     WHERE d.endpoint_id = $1 AND d.id = ANY ($2::text[]::bigint[]) AND EXISTS (SELECT FROM warehouse.changes c WHERE c.seq = d.change_sequence)
     RETURNING d.id`,
    endpointId,
    ids.map(String),
  )
  await notifyAndReview(tx, endpointId)
  const found = new Set(rows.map(({ id }) => id))
  return { redelivered: rows.length, missing: ids.filter((id) => !found.has(id)) }
}

/** The result of a redelivery by range. */
export interface RedeliveredRange {
  readonly redelivered: number
  /** There may be more after this number; null: there are none. */
  readonly nextAfter: bigint | null
}

/**
 * Sends the messages of all changes between two numbers (exclusive) that match the current filter of the endpoint, also those that were never sent, up to
 * its position. `gone`: changes up to this number were removed.
 */
export const redeliverRange = async (
  tx: Transaction,
  endpointId: string,
  { after, before }: { readonly after: bigint; readonly before: bigint },
): Promise<RedeliveredRange | { readonly gone: bigint }> => {
  const [row] = await tx.query<{ removed_up_to: bigint; count: number; last: bigint | null }>(
    `WITH floor AS (SELECT removed_up_to FROM tallyman.retention_passes WHERE data = 'changes'), made AS (
       INSERT INTO tallyman.webhook_deliveries (endpoint_id, change_sequence, subject, next_at)
       SELECT e.id, c.seq, ${deliverySubject}, now() FROM tallyman.webhook_endpoints e, warehouse.changes c, floor
       WHERE e.id = $1 AND c.seq > $2::bigint AND c.seq < $3::bigint AND c.seq <= e.position AND $2::bigint >= floor.removed_up_to AND ${deliversChange}
       ORDER BY c.seq LIMIT ${maxRedelivered}
       ON CONFLICT (endpoint_id, change_sequence) DO UPDATE SET ${restart} RETURNING change_sequence
     )
     SELECT removed_up_to, (SELECT count(*) FROM made)::int AS count, (SELECT max(change_sequence) FROM made) AS last FROM floor`,
    endpointId,
    after,
    before,
  )
  if (row === undefined) throw new Error('tallyman.retention_passes has no row for changes')
  if (after < row.removed_up_to) return { gone: row.removed_up_to }
  await notifyAndReview(tx, endpointId)
  return { redelivered: row.count, nextAfter: row.count === maxRedelivered ? row.last : null }
}

const notifyAndReview = async (tx: Transaction, endpointId: string): Promise<void> => {
  if ((await tx.prisma.webhookDelivery.count({ where: { endpointId, status: 'failed', changeSequence: { not: null } } })) === 0)
    await resolveWebhookAlarms(tx, endpointId, ['webhook-given-up'])
  await tx.execute(`SELECT pg_notify('${webhooksChannel}', '')`)
}

/** Values of the gauges of webhooks. */
export interface WebhookGauges {
  readonly active: number
  readonly paused: number
  readonly disabled: number
  /** Waiting messages. */
  readonly pending: number
  /** The largest number of unread changes of an active endpoint. */
  readonly lag: number
  /** When the oldest change occurred that was not delivered to an active endpoint; null: none. */
  readonly oldest: Date | null
}

const noFigures: WebhookGauges = { active: 0, paused: 0, disabled: 0, pending: 0, lag: 0, oldest: null }

/** Reads the values of the gauges of webhooks. */
export const readWebhookGauges = async (sql: SqlRunner): Promise<WebhookGauges> => {
  const [row] = await sql.query<WebhookGauges>(
    `SELECT (count(*) FILTER (WHERE e.state = 'active'))::int AS active, (count(*) FILTER (WHERE e.state = 'paused'))::int AS paused,
       (count(*) FILTER (WHERE e.state = 'disabled'))::int AS disabled,
       (SELECT count(*) FROM tallyman.webhook_deliveries WHERE status = 'pending')::int AS pending,
       coalesce(max(n.last_seq - e.position) FILTER (WHERE e.state = 'active'), 0)::float8 AS lag,
       min((SELECT c.occurred_at FROM warehouse.changes c WHERE c.seq >= ${firstUndelivered} ORDER BY c.seq LIMIT 1)) FILTER (WHERE e.state = 'active') AS oldest
     FROM tallyman.webhook_endpoints e, tallyman.change_counter n`,
  )
  return row ?? noFigures
}

/**
 * Raises the alarm of each endpoint that prevents the removal of old changes, and resolves those of the others.
 * @param keepMs how long changes are stored; null: permanently
 */
export const reviewBehindAlarms = async (sql: SqlRunner, keepMs: number | null): Promise<void> => {
  const rows = await sql.query<{ id: string; seller_id: string | null; state: string; held: bigint; behind: boolean }>(
    `SELECT e.id, e.seller_id, e.state, h.held, coalesce((SELECT c.occurred_at < now() - make_interval(secs => $1::float8 / 1000)
       FROM warehouse.changes c WHERE c.seq >= h.held ORDER BY c.seq LIMIT 1), false) AS behind
     FROM tallyman.webhook_endpoints e CROSS JOIN LATERAL (SELECT ${firstUndelivered} AS held) h WHERE e.state <> 'disabled'`,
    keepMs,
  )
  for (const { id, seller_id: sellerId, state, held, behind } of rows) {
    if (!behind) {
      await resolveWebhookAlarms(sql, id, ['webhook-behind'])
      continue
    }
    await raiseAlarm(
      sql,
      alarmKey('webhook-behind', id, sellerId),
      `the webhook ${id} is ${state} and has not received change ${held}, which is older than RETAIN_CHANGES: later changes are kept for it. ` +
        'Correct its receiver and resume it; disable or remove it if it does not need them',
    )
  }
}
