import type { AlarmKind } from '../../domain/alarms/alarm-rules.ts'
import { campaignStates } from '../../domain/campaigns/campaign.ts'
import type { SqlRunner, Transaction } from '../db/database.ts'
import { sellerIsServed } from '../sellers/sellers.ts'
import { isStreamBehind, type StreamPace } from '../sync/sync-states.ts'

/** A scheduled stream and its interval. */
export interface RunningStream extends StreamPace {
  readonly sellerId: string
}

/** A stream without a successful run for too long. */
export interface BehindStream {
  readonly sellerId: string
  readonly resource: string
  readonly stream: string
  /** When its last successful run ended. */
  readonly since: Date
  readonly lastError: string | null
}

/** Streams of active sellers that are behind (`isStreamBehind`). The time before this process started does not count, since nothing ran then. */
export const findStreamsBehind = async (
  sql: SqlRunner,
  streams: readonly RunningStream[],
  { upForMs }: { readonly upForMs: number },
): Promise<readonly BehindStream[]> =>
  sql.query<BehindStream>(
    `SELECT s.seller_id AS "sellerId", s.resource, s.stream, s.last_success_at AS since, s.last_error AS "lastError"
     FROM jsonb_to_recordset($1::jsonb) AS t("sellerId" text, resource text, stream text, "everyMs" float8)
     JOIN tallyman.sync_states s ON s.seller_id = t."sellerId" AND s.resource = t.resource AND s.stream = t.stream
     JOIN tallyman.sellers o ON o.seller_id = s.seller_id AND o.state = 'active'
     WHERE ${isStreamBehind('t."everyMs"', 'greatest(s.last_success_at, now() - make_interval(secs => $2::float8 / 1000))')}
     ORDER BY 1, 2, 3`,
    JSON.stringify(streams),
    upForMs,
  )

/** Sellers with at least `min` open quarantined records that were first seen within `withinMs`, with their number. */
export const findGrowingQuarantines = async (
  sql: SqlRunner,
  { min, withinMs }: { readonly min: number; readonly withinMs: number },
): Promise<readonly { readonly sellerId: string; readonly count: number }[]> =>
  sql.query(
    `SELECT seller_id AS "sellerId", count(*)::int AS count FROM tallyman.quarantined_records
     WHERE state = 'open' AND skipped IS NULL AND first_seen_at > now() - make_interval(secs => $1::float8 / 1000)
     GROUP BY seller_id HAVING count(*) >= $2::int ORDER BY 1`,
    withinMs,
    min,
  )

/** Those of these streams whose cursor looped (pages without new records) in at least `min` windows. */
export const findEndlessStreams = async (
  sql: SqlRunner,
  streams: readonly Omit<RunningStream, 'everyMs'>[],
  min: number,
): Promise<
  readonly { readonly sellerId: string; readonly resource: string; readonly stream: string; readonly count: number }[]
> =>
  sql.query(
    `SELECT s.seller_id AS "sellerId", s.resource, s.stream, (s.totals ->> 'endlessWindows')::int AS count
     FROM jsonb_to_recordset($1::jsonb) AS t("sellerId" text, resource text, stream text)
     JOIN tallyman.sync_states s ON s.seller_id = t."sellerId" AND s.resource = t.resource AND s.stream = t.stream
     WHERE (s.totals ->> 'endlessWindows')::int >= $2::int ORDER BY 1, 2, 3`,
    JSON.stringify(streams),
    min,
  )

/** Unreadable orders by seller: the keys of their quarantined records; null: the record has no readable key. */
export const unreadableOrders = async (
  sql: SqlRunner,
  sellerId: string | null = null,
): Promise<readonly { readonly sellerId: string; readonly keys: readonly (string | null)[] }[]> =>
  sql.query(
    `SELECT seller_id AS "sellerId", array_agg(DISTINCT record_key) AS keys FROM tallyman.quarantined_records
     WHERE state = 'open' AND skipped IS NULL AND resource = 'orders' AND ($1::text IS NULL OR seller_id = $1)
     GROUP BY seller_id ORDER BY 1`,
    sellerId,
  )

/** The value of open inventory discrepancies by seller and currency, as decimal text; only values of at least `min`. */
export const findValuableDiscrepancies = async (
  sql: SqlRunner,
  min: number,
): Promise<readonly { readonly sellerId: string; readonly currency: string; readonly count: number; readonly value: string }[]> =>
  sql.query(
    `SELECT seller_id AS "sellerId", currency, count(*)::int AS count, round(sum(value), 2)::text AS value
     FROM warehouse.inventory_discrepancies WHERE state = 'open' AND value IS NOT NULL AND currency IS NOT NULL
     GROUP BY seller_id, currency HAVING sum(value) >= $1::numeric ORDER BY 1, 2`,
    min,
  )

/**
 * The value of differences between stock on hand and inventory log by seller and currency, as decimal text; only values of at least `min`, and only
 * differences that have been open for `openForMs`.
 */
export const findValuableStockDifferences = async (
  sql: SqlRunner,
  { min, openForMs }: { readonly min: number; readonly openForMs: number },
): Promise<readonly { readonly sellerId: string; readonly currency: string; readonly count: number; readonly value: string }[]> =>
  sql.query(
    `SELECT seller_id AS "sellerId", currency, count(*)::int AS count, round(sum(value), 2)::text AS value
     FROM warehouse.stock_differences WHERE state = 'open' AND value IS NOT NULL AND currency IS NOT NULL
       AND first_seen_at <= now() - make_interval(secs => $2::float8 / 1000)
     GROUP BY seller_id, currency HAVING sum(value) >= $1::numeric ORDER BY 1, 2`,
    min,
    openForMs,
  )

/** A campaign that is out of budget or about to end. */
export interface CampaignCondition {
  readonly sellerId: string
  readonly campaignId: string
  readonly name: string | null
  readonly status: string
  /** `YYYY-MM-DD`. */
  readonly endDate: string | null
  readonly outOfBudget: boolean
  readonly ending: boolean
}

/** Running watched campaigns that are out of budget, or end within `withinDays`. */
export const findCampaignsRunningOut = async (sql: SqlRunner, withinDays: number): Promise<readonly CampaignCondition[]> =>
  sql.query<CampaignCondition>(
    `SELECT * FROM (
       SELECT c.seller_id AS "sellerId", c.campaign_id AS "campaignId", c.name, c.status, c.end_date::text AS "endDate",
         c.status = ANY ($2::text[]) AS "outOfBudget",
         c.status = $3::text OR coalesce(c.end_date < (now() AT TIME ZONE 'UTC')::date + $1::int, false) AS ending
       FROM warehouse.campaigns c JOIN tallyman.watched_campaigns w ON w.seller_id = c.seller_id AND w.campaign_id = c.campaign_id
       WHERE c.status = ANY ($4::text[])
         AND c.missing_since IS NULL AND w.removed_at IS NULL) c
     WHERE "outOfBudget" OR ending ORDER BY 1, 2`,
    withinDays,
    campaignStates.outOfBudget,
    campaignStates.endingSoon,
    campaignStates.running,
  )

/** Webhooks that a person paused more than `forMs` ago; those that were stopped after failed deliveries have their own alarm. */
export const findPausedWebhooks = async (
  sql: SqlRunner,
  forMs: number,
): Promise<readonly { readonly id: string; readonly sellerId: string; readonly since: Date }[]> =>
  sql.query(
    `SELECT e.id, coalesce(e.seller_id, '') AS "sellerId", e.state_since AS since FROM tallyman.webhook_endpoints e
     WHERE e.state = 'paused' AND e.state_since < now() - make_interval(secs => $1::float8 / 1000)
       AND NOT EXISTS (SELECT FROM tallyman.alarms a WHERE a.kind = 'webhook-stopped' AND a.subject = e.id AND a.resolved_at IS NULL)
     ORDER BY 1`,
    forMs,
  )

/** Acquires the lock of the alarm review until the transaction ends; false: another transaction holds it. */
export const tryLockReview = async (tx: Transaction): Promise<boolean> => {
  const [row] = await tx.query<{ taken: boolean }>(
    `SELECT pg_try_advisory_xact_lock(hashtextextended('tallyman.alarms', 0)) AS taken`,
  )
  return row?.taken ?? false
}

/** A condition that currently holds, as an alarm. */
export interface AlarmCondition {
  readonly sellerId: string
  readonly kind: AlarmKind
  readonly subject: string
  readonly message: string
  /** The number of things that it concerns; null: only its subject. */
  readonly count: number | null
  /** The earliest of their deadlines. */
  readonly dueAt: Date | null
}

/**
 * Makes the open alarms of these kinds match the conditions: opens new ones, updates existing ones, resolves the others. Two statements in all;
 * unchanged alarms are not written.
 * @param kinds the kinds that were checked
 * @param among sellers whose alarms may be resolved, besides sellers that no process serves; null: all
 */
export const applyConditions = async (
  sql: SqlRunner,
  kinds: readonly AlarmKind[],
  conditions: readonly AlarmCondition[],
  among: readonly string[] | null,
): Promise<{ readonly opened: number; readonly resolved: number }> => {
  const wanted = JSON.stringify(
    conditions.map(({ dueAt, ...condition }) => ({ ...condition, dueAt: dueAt?.toISOString() ?? null })),
  )
  const rowsExpression = `jsonb_to_recordset($1::jsonb) AS t("sellerId" text, kind text, subject text, message text, count int, "dueAt" timestamptz)`
  const [row] = await sql.query<{ opened: number }>(
    `WITH changed AS (
       INSERT INTO tallyman.alarms AS a (seller_id, kind, subject, message, count, due_at)
       SELECT t."sellerId", t.kind, t.subject, t.message, t.count, t."dueAt" FROM ${rowsExpression}
       ON CONFLICT (seller_id, kind, subject) WHERE resolved_at IS NULL
       DO UPDATE SET message = excluded.message, count = excluded.count, due_at = excluded.due_at
         WHERE (a.message, a.count, a.due_at) IS DISTINCT FROM (excluded.message, excluded.count, excluded.due_at)
       RETURNING xmax = 0 AS opened
     ) SELECT (count(*) FILTER (WHERE opened))::int AS opened FROM changed`,
    wanted,
  )
  const resolved = await sql.execute(
    `UPDATE tallyman.alarms a SET resolved_at = now()
     WHERE a.resolved_at IS NULL AND a.kind = ANY ($2::text[])
       AND ($3::text[] IS NULL OR a.seller_id = ANY ($3::text[])
         OR NOT EXISTS (SELECT FROM tallyman.sellers s WHERE s.seller_id = a.seller_id AND ${sellerIsServed('s')}))
       AND NOT EXISTS (SELECT FROM ${rowsExpression} WHERE t."sellerId" = a.seller_id AND t.kind = a.kind AND t.subject = a.subject)`,
    wanted,
    [...kinds],
    among === null ? null : [...among],
  )
  return { opened: row?.opened ?? 0, resolved }
}
