import type { Change } from '../../domain/changes/change.ts'
import { type AlarmKey, raiseAlarm } from '../alarms/alarms.ts'
import type { Database, SqlRunner, Transaction } from '../db/database.ts'
import { dueNow } from '../db/due-now.ts'
import { retryOnDeadlock } from '../db/errors.ts'
import { prepared } from '../db/prepared-statements.ts'
import { resolveWebhookAlarms, type WebhookAlarm } from './webhook-endpoints.ts'

// Glossary
//   message    an endpoint and a change; one row of `webhook_deliveries`
//   attempt    one HTTP request that carries a message
//   head       the oldest waiting message of its subject: the only one of it that may be sent

/** Maximum number of waiting messages of an endpoint; further changes stay in the feed. Fewer while nothing is delivered. */
const maxWaiting = 20_000
const maxWaitingWhileFailing = 1_000
/** Changes that one statement reads. */
const changesPerStatement = 1_000
/** Messages of one endpoint that one derivation enqueues; few while its receiver fails. */
const maxDue = 48
const maxDueWhileFailing = 4
/** Number of attempts whose outcome is stored. */
const keptAttempts = 20
/** SQL: whether endpoint `e` gets change `c`. */
export const deliversChange = `(e.seller_id IS NULL OR e.seller_id = c.seller_id) AND (cardinality(e.types) = 0 OR EXISTS (
  SELECT FROM unnest(e.types) AS wanted WHERE c.type = wanted OR (right(wanted, 2) = '.*' AND starts_with(c.type, left(wanted, -1)))))`

/**
 * SQL: the subject, whose messages are delivered in order: the purchase order, else the return, else the command, else the seller and the group of the
 * change's type. Equal names of different subjects would only make them wait for each other.
 */
export const deliverySubject = `left(CASE WHEN c.purchase_order_id IS NOT NULL THEN 'order ' || c.seller_id || ' ' || c.purchase_order_id
  WHEN c.return_order_id IS NOT NULL THEN 'return ' || c.seller_id || ' ' || c.return_order_id
  WHEN c.command_id IS NOT NULL THEN 'command ' || c.command_id
  ELSE split_part(c.type, '.', 1) || ' ' || c.seller_id END, 600)`

/** SQL: the first change that was not delivered to endpoint `e`. */
export const firstUndelivered = `least(e.position + 1, (SELECT min(d.change_sequence) FROM tallyman.webhook_deliveries d
  WHERE d.endpoint_id = e.id AND d.status = 'pending'))`

/** Active endpoints behind the end of the feed that may get more messages. */
export const findLaggingWebhooks = async (sql: SqlRunner): Promise<readonly string[]> => {
  const rows = await sql.query<{ id: string }>(
    `SELECT e.id FROM tallyman.webhook_endpoints e, tallyman.change_counter n
     WHERE e.state = 'active' AND e.position < n.last_seq AND (
       SELECT count(*) FROM (SELECT FROM tallyman.webhook_deliveries d WHERE d.endpoint_id = e.id AND d.status = 'pending' LIMIT ${maxWaiting}) waiting
     ) < CASE WHEN e.failing_since IS NULL THEN ${maxWaiting} ELSE ${maxWaitingWhileFailing} END
     ORDER BY e.id`,
  )
  return rows.map(({ id }) => id)
}

const removedHint = '(RETAIN_CHANGES; it was disabled, or began there): read the effects from the tables, then resolve this alarm'
const maxRemovedMessageLength = 4_000

/** SQL: raises an alarm for changes that were removed before their delivery, in the statement that skips them; extends an open one. */
const alarmRemoved = (rows: string): string => `INSERT INTO tallyman.alarms (seller_id, kind, subject, message) ${rows}
  ON CONFLICT (seller_id, kind, subject) WHERE resolved_at IS NULL
  DO UPDATE SET message = left(alarms.message || '; ' || excluded.message, ${maxRemovedMessageLength})`

/**
 * Creates the messages of an endpoint's next changes and moves its position, in one statement. Numbers of changes become visible in order, so none is
 * skipped. Does nothing while another process does it. Returns whether there may be more changes.
 */
export const createDeliveries = async (sql: SqlRunner, endpointId: string): Promise<boolean> => {
  const [row] = await sql.query<{ changes: number }>(
    `WITH endpoint AS MATERIALIZED (
       SELECT e.id, e.position, e.types, e.seller_id, p.removed_up_to
       FROM tallyman.webhook_endpoints e, tallyman.retention_passes p
       WHERE e.id = $1 AND e.state = 'active' AND p.data = 'changes' FOR UPDATE OF e SKIP LOCKED
     ), page AS MATERIALIZED (
       SELECT c.* FROM endpoint e CROSS JOIN LATERAL (
         SELECT seq, seller_id, type, purchase_order_id, return_order_id, command_id FROM warehouse.changes
         WHERE seq > greatest(e.position, e.removed_up_to) ORDER BY seq LIMIT ${changesPerStatement}) c
     ), made AS (
       INSERT INTO tallyman.webhook_deliveries (endpoint_id, change_sequence, subject, next_at)
       SELECT e.id, c.seq, ${deliverySubject}, now() FROM page c, endpoint e WHERE ${deliversChange}
       ON CONFLICT (endpoint_id, change_sequence) DO NOTHING
     ), moved AS (
       UPDATE tallyman.webhook_endpoints w SET position = greatest(e.position, e.removed_up_to, (SELECT max(seq) FROM page))
       FROM endpoint e WHERE w.id = e.id AND greatest(e.removed_up_to, (SELECT max(seq) FROM page)) > e.position
     ), alarmed AS (
       ${alarmRemoved(`SELECT coalesce(e.seller_id, ''), 'webhook-changes-gone', e.id, 'changes ' || e.position + 1 || ' to ' || e.removed_up_to
         || ' were removed before the webhook ' || e.id || ' got them ${removedHint}' FROM endpoint e WHERE e.position < e.removed_up_to`)}
     )
     SELECT (SELECT count(*) FROM page)::int AS changes FROM endpoint`,
    endpointId,
  )
  if (row === undefined) return true
  return row.changes === changesPerStatement
}

/** The key of an alarm of an endpoint. */
export const alarmKey = (kind: WebhookAlarm, endpointId: string, sellerId: string | null): AlarmKey => ({
  sellerId: sellerId ?? '',
  kind,
  subject: endpointId,
})

/** A message that may be sent, and its endpoint. */
export interface DueWebhookDelivery {
  readonly id: bigint
  readonly endpointId: string
}

/** Due messages, heads only. Endpoints take turns, each with a limited number. */
export const findDueDeliveries = (sql: SqlRunner): Promise<readonly DueWebhookDelivery[]> =>
  sql.query<DueWebhookDelivery>(
    `SELECT due.id, e.id AS "endpointId" FROM tallyman.webhook_endpoints e CROSS JOIN LATERAL (
       SELECT head.id, row_number() OVER (ORDER BY head.next_at, head.change_sequence) AS place FROM (
         SELECT DISTINCT ON (d.subject) d.id, d.next_at, d.change_sequence FROM tallyman.webhook_deliveries d
         WHERE d.endpoint_id = e.id AND d.status = 'pending' ORDER BY d.subject, d.change_sequence
       ) head WHERE head.next_at <= ${dueNow}
     ) due
     WHERE e.state = 'active' AND coalesce(e.not_before <= ${dueNow}, true)
       AND due.place <= CASE WHEN e.failing_since IS NULL THEN ${maxDue} ELSE ${maxDueWhileFailing} END
     ORDER BY due.place, e.id`,
  )

/** A claimed message, which its holder sends. */
export interface ClaimedDelivery {
  readonly id: bigint
  readonly endpointId: string
  readonly url: string
  /** The number of earlier attempts of its schedule. */
  readonly attempt: number
  /** After that another process may send it, unless it was settled. */
  readonly claimedUntil: Date
  /** The last attempt of the endpoint failed. */
  readonly failing: boolean
  /** Null: retention has removed it, so the message cannot be sent. */
  readonly change: Change | null
}

// The message is not due until the claim expires, even if its holder dies.
const claimStatement = prepared(
  `WITH claimed AS (
     UPDATE tallyman.webhook_deliveries d SET next_at = now() + $2::int * interval '1 millisecond'
     FROM tallyman.webhook_endpoints e
     WHERE d.id = $1::bigint AND e.id = d.endpoint_id AND d.status = 'pending' AND d.next_at <= ${dueNow} AND e.state = 'active'
       AND coalesce(e.not_before <= ${dueNow}, true)
       AND NOT EXISTS (SELECT FROM tallyman.webhook_deliveries f WHERE f.endpoint_id = d.endpoint_id AND f.subject = d.subject
         AND f.status = 'pending' AND f.change_sequence < d.change_sequence)
     RETURNING d.endpoint_id, d.change_sequence, d.attempt, d.next_at, e.url, e.failing_since
   )
   SELECT d.endpoint_id, d.url, d.attempt, d.next_at AS claimed_until, d.failing_since IS NOT NULL AS failing,
     c.seq, c.seller_id, c.type, c.purchase_order_id, c.line_number, c.return_order_id, c.command_id, c.data, c.occurred_at
   FROM claimed d LEFT JOIN warehouse.changes c ON c.seq = d.change_sequence`,
)

/**
 * Claims a message for `claimMs` and returns it with its change. Null: it may not be sent now, because it is not due, not the head of its subject or
 * claimed by another process, or its endpoint is not active.
 */
export const claimDelivery = async (sql: SqlRunner, id: bigint, claimMs: number): Promise<ClaimedDelivery | null> => {
  const [row] = await sql.query<
    { endpoint_id: string; url: string; attempt: number; claimed_until: Date; failing: boolean } & (
      | { seq: null }
      | {
          seq: bigint
          seller_id: string
          type: string
          purchase_order_id: string | null
          line_number: string | null
          return_order_id: string | null
          command_id: string | null
          data: unknown
          occurred_at: Date
        }
    )
  >(claimStatement, id, claimMs)
  if (row === undefined) return null
  const { endpoint_id: endpointId, url, attempt, claimed_until: claimedUntil, failing } = row
  const claimed = { id, endpointId, url, attempt, claimedUntil, failing }
  if (row.seq === null) return { ...claimed, change: null }
  const change: Change = {
    seq: row.seq,
    sellerId: row.seller_id,
    type: row.type,
    purchaseOrderId: row.purchase_order_id,
    lineNumber: row.line_number,
    returnOrderId: row.return_order_id,
    commandId: row.command_id,
    data: row.data,
    occurredAt: row.occurred_at,
  }
  return { ...claimed, change }
}

/** Releases a claim of an unsent message, which is due again. */
export const releaseDelivery = async (sql: SqlRunner, { id, attempt, claimedUntil }: ClaimedDelivery): Promise<void> => {
  await sql.execute(
    `UPDATE tallyman.webhook_deliveries SET next_at = now()
     WHERE id = $1::bigint AND status = 'pending' AND attempt = $2::int AND next_at = $3::timestamptz`,
    id,
    attempt,
    claimedUntil.toISOString(),
  )
}

/** The outcome of an attempt. `error` is a code, never text of the receiver. */
export interface AttemptOutcome {
  readonly httpStatus: number | null
  readonly error: string | null
  readonly durationMs: number
}

const buildEntry = (outcome: string): string =>
  `jsonb_build_array(${outcome}::jsonb || jsonb_build_object('at', to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')))`

const appendAttempt = (outcome: string): string =>
  `(CASE WHEN jsonb_array_length(attempts) >= ${keptAttempts} THEN attempts - 0 ELSE attempts END) || ${buildEntry(outcome)}`

const outcomeText = ({ httpStatus, error, durationMs }: AttemptOutcome): string =>
  JSON.stringify({ httpStatus, error, durationMs: Math.round(durationMs) })

/** Settles a delivered message. Returns the id of the next one of its subject; null: there is none. */
export const settleDelivered = async (
  sql: SqlRunner,
  { id, endpointId, failing }: ClaimedDelivery,
  outcome: AttemptOutcome,
): Promise<bigint | null> => {
  const [row] = await sql.query<{ next: bigint | null }>(
    `WITH done AS (
       UPDATE tallyman.webhook_deliveries SET status = 'delivered', attempt = attempt + 1, at = now(), first_at = coalesce(first_at, now()),
         next_at = NULL, http_status = $2::int, error = NULL, attempts = ${appendAttempt('$3')}
       WHERE id = $1::bigint AND status = 'pending' RETURNING endpoint_id, subject, change_sequence
     ), recovered AS (
       UPDATE tallyman.webhook_endpoints e SET failing_since = NULL, not_before = NULL, last_success_at = now() FROM done
       WHERE e.id = done.endpoint_id AND (e.failing_since IS NOT NULL OR e.last_success_at IS NULL OR e.last_success_at < now() - interval '1 second')
     )
     SELECT (SELECT d.id FROM tallyman.webhook_deliveries d, done WHERE d.endpoint_id = done.endpoint_id AND d.subject = done.subject
       AND d.status = 'pending' AND d.change_sequence > done.change_sequence ORDER BY d.change_sequence LIMIT 1) AS next`,
    id,
    outcome.httpStatus,
    outcomeText(outcome),
  )
  if (failing) await resolveWebhookAlarms(sql, endpointId, ['webhook-failing'])
  return row?.next ?? null
}

/** The consequences of a failed attempt. */
export interface FailurePlan {
  /** Wait before the next attempt; null: it was the last one. */
  readonly nextInMs: number | null
  /** How long to send nothing to the endpoint; null: the receiver did not request a pause. */
  readonly holdMs: number | null
  /** The receiver rejects all further messages (410). */
  readonly gone: boolean
}

/**
 * The result of a failed attempt. `paused`: nothing was delivered since the first attempt, so the endpoint is paused and the message waits; `given-up`:
 * others were delivered meanwhile, so only this message failed.
 */
export type FailureResult = 'retried' | 'given-up' | 'paused' | 'disabled'

/** An alarm is raised when an endpoint has failed for this long. */
const alarmAfter = `interval '1 hour'`

/** Settles a failed attempt; null: another process has settled or attempted the message, or it was removed. */
export const settleFailed = (
  database: Database,
  { id, endpointId, attempt }: ClaimedDelivery,
  outcome: AttemptOutcome,
  plan: FailurePlan,
): Promise<FailureResult | null> =>
  retryOnDeadlock(() =>
    database.transaction(async (tx) => {
      const [message] = await tx.query<{ attempt: number; first_at: Date; change_sequence: bigint }>(
        `UPDATE tallyman.webhook_deliveries SET attempt = attempt + 1, at = now(), first_at = coalesce(first_at, now()),
           next_at = now() + make_interval(secs => $4::float8 / 1000), http_status = $2::int, error = $5, attempts = ${appendAttempt('$3')}
         WHERE id = $1::bigint AND status = 'pending' AND attempt = $6::int RETURNING attempt, first_at, change_sequence`,
        id,
        outcome.httpStatus,
        outcomeText(outcome),
        plan.nextInMs ?? 0,
        outcome.error,
        attempt,
      )
      if (message === undefined) return null
      const [endpoint] = await tx.query<{ seller_id: string | null; long: boolean; succeeded: boolean; since: Date }>(
        `UPDATE tallyman.webhook_endpoints SET failing_since = coalesce(failing_since, now()),
           not_before = CASE WHEN $2::float8 IS NULL THEN not_before ELSE now() + make_interval(secs => $2::float8 / 1000) END
         WHERE id = $1 RETURNING seller_id, failing_since < now() - ${alarmAfter} AS long, failing_since AS since,
           coalesce(last_success_at > $3::timestamptz, false) AS succeeded`,
        endpointId,
        plan.holdMs,
        message.first_at.toISOString(),
      )
      if (endpoint === undefined) return null
      const { seller_id: sellerId, long, succeeded, since } = endpoint
      const what = outcome.error ?? `HTTP ${outcome.httpStatus}`
      if (plan.gone) {
        const reason = 'the receiver answered 410: it wants no more messages'
        await stopEndpoint(tx, endpointId, 'disabled', reason, sellerId)
        return 'disabled'
      }
      if (plan.nextInMs !== null) {
        if (long) {
          await raiseAlarm(
            tx,
            alarmKey('webhook-failing', endpointId, sellerId),
            `the webhook ${endpointId} has received nothing since ${since.toISOString()} (${what}): check its receiver; waiting messages are retried`,
          )
        }
        return 'retried'
      }
      if (succeeded) {
        await tx.prisma.webhookDelivery.update({ where: { id }, data: { status: 'failed', nextAt: null } })
        await raiseAlarm(
          tx,
          alarmKey('webhook-given-up', endpointId, sellerId),
          `the webhook ${endpointId} refused change ${message.change_sequence} ${message.attempt} times (${what}) while others were delivered: correct its ` +
            'receiver, redeliver what failed, then resolve this alarm',
        )
        return 'given-up'
      }
      const reason = `no message was delivered in ${message.attempt} attempts since ${message.first_at.toISOString()} (${what})`
      await stopEndpoint(tx, endpointId, 'paused', reason, sellerId)
      return 'paused'
    }),
  )

const stopEndpoint = async (
  tx: Transaction,
  endpointId: string,
  state: 'paused' | 'disabled',
  reason: string,
  sellerId: string | null,
): Promise<void> => {
  // If a person has paused it meanwhile, only its receiver may still disable it.
  const stopped = await tx.execute(
    `UPDATE tallyman.webhook_endpoints SET state = $2, reason = $3, state_since = now(), updated_at = now()
     WHERE id = $1 AND (state = 'active' OR (state = 'paused' AND $2 = 'disabled'))`,
    endpointId,
    state,
    reason,
  )
  if (stopped === 0) return
  await resolveWebhookAlarms(tx, endpointId, ['webhook-failing'])
  const outlook = state === 'paused' ? 'no change is lost' : 'undelivered changes are removed after RETAIN_CHANGES'
  await raiseAlarm(
    tx,
    alarmKey('webhook-stopped', endpointId, sellerId),
    `the webhook ${endpointId} is ${state}: ${reason}. ${outlook}; correct its receiver and resume it, or remove it`,
  )
}

/** Settles a message whose change was removed before its delivery. */
export const settleRemovedChange = async (sql: SqlRunner, { id, endpointId }: ClaimedDelivery): Promise<void> => {
  await sql.execute(
    `WITH lost AS (
       UPDATE tallyman.webhook_deliveries SET status = 'failed', next_at = NULL, at = now(), error = 'change-removed'
       WHERE id = $1::bigint AND status = 'pending' RETURNING change_sequence
     )
     ${alarmRemoved(`SELECT coalesce(e.seller_id, ''), 'webhook-changes-gone', e.id, 'change ' || lost.change_sequence || ' was removed before the webhook '
       || e.id || ' got it ${removedHint}' FROM lost, tallyman.webhook_endpoints e WHERE e.id = $2`)}`,
    id,
    endpointId,
  )
}

/** Stores the result of a test message; returns its id. */
export const recordTest = async (
  sql: SqlRunner,
  endpointId: string,
  outcome: AttemptOutcome,
  delivered: boolean,
): Promise<bigint> => {
  const [row] = await sql.query<{ id: bigint }>(
    `INSERT INTO tallyman.webhook_deliveries (endpoint_id, subject, status, attempt, at, first_at, http_status, error, attempts)
     SELECT $1, 'test', $2, 1, now(), now(), $3::int, $4, ${buildEntry('$5')}
     RETURNING id`,
    endpointId,
    delivered ? 'delivered' : 'failed',
    outcome.httpStatus,
    outcome.error,
    outcomeText(outcome),
  )
  if (row === undefined) throw new Error('Postgres did not store the test of a webhook')
  return row.id
}
