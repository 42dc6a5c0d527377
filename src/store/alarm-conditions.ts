import type { AlarmKind } from '../domain/alarm-rules.ts'
import { campaignStates } from '../domain/campaign.ts'
import type { SqlRunner, Transaction } from './database.ts'
import { sellerIsServed } from './sellers.ts'
import { isStreamBehind, type StreamPace } from './sync-states.ts'

/** A stream that runs by itself, and how often. */
export interface RunningStream extends StreamPace {
  readonly sellerId: string
}

/** A stream that has not ended well for too long. */
export interface BehindStream {
  readonly sellerId: string
  readonly resource: string
  readonly stream: string
  /** When it last ended well. */
  readonly since: Date
  readonly lastError: string | null
}

/**
 * Streams of active sellers that are behind (`isStreamBehind`). The time before this process was up does not count: nobody was there to run them.
 */
export const streamsBehind = async (
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

/** Sellers with at least `least` open quarantined records that came first within so long, and how many. */
export const growingQuarantines = async (
  sql: SqlRunner,
  { least, withinMs }: { readonly least: number; readonly withinMs: number },
): Promise<readonly { readonly sellerId: string; readonly count: number }[]> =>
  sql.query(
    `SELECT seller_id AS "sellerId", count(*)::int AS count FROM tallyman.quarantined_records
     WHERE state = 'open' AND skipped IS NULL AND first_seen_at > now() - make_interval(secs => $1::float8 / 1000)
     GROUP BY seller_id HAVING count(*) >= $2::int ORDER BY 1`,
    withinMs,
    least,
  )

/** What the open differences of inventory reports are worth, by seller and currency, from `least` upwards, as decimal text. */
export const valuableDiscrepancies = async (
  sql: SqlRunner,
  least: number,
): Promise<readonly { readonly sellerId: string; readonly currency: string; readonly count: number; readonly value: string }[]> =>
  sql.query(
    `SELECT seller_id AS "sellerId", currency, count(*)::int AS count, round(sum(value), 2)::text AS value
     FROM warehouse.inventory_discrepancies WHERE state = 'open' AND value IS NOT NULL AND currency IS NOT NULL
     GROUP BY seller_id, currency HAVING sum(value) >= $1::numeric ORDER BY 1, 2`,
    least,
  )

/** A campaign that runs out of budget or of time. */
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

/** Watched campaigns that run and are out of budget, or end within so many days. */
export const campaignsRunningOut = async (sql: SqlRunner, withinDays: number): Promise<readonly CampaignCondition[]> =>
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

/** Webhooks that a person paused longer ago than that; those that were stopped because nothing arrived have an alarm of their own. */
export const webhooksPaused = async (
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

/** Whether this transaction is the one that looks for alarms; another one may be at it. It is until it ends, however it ends. */
export const takeReview = async (tx: Transaction): Promise<boolean> => {
  const [row] = await tx.query<{ taken: boolean }>(
    `SELECT pg_try_advisory_xact_lock(hashtextextended('tallyman.alarms', 0)) AS taken`,
  )
  return row?.taken ?? false
}

/** A condition that holds now, as an alarm. */
export interface AlarmCondition {
  readonly sellerId: string
  readonly kind: AlarmKind
  readonly subject: string
  readonly message: string
  /** How many things it is about; null: the one that its subject names. */
  readonly count: number | null
  /** The earliest of their deadlines. */
  readonly dueAt: Date | null
}

/**
 * Makes the open alarms of these kinds those of the conditions: opens what is new, brings up to date what stands, resolves the others. Two
 * statements, whatever the number; what is as it was is not written.
 * @param kinds those that were looked for
 * @param among whose alarms may be resolved, beside those of sellers that nobody serves; null: anybody's
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
  const rowsOf = `jsonb_to_recordset($1::jsonb) AS t("sellerId" text, kind text, subject text, message text, count int, "dueAt" timestamptz)`
  const [row] = await sql.query<{ opened: number }>(
    `WITH changed AS (
       INSERT INTO tallyman.alarms AS a (seller_id, kind, subject, message, count, due_at)
       SELECT t."sellerId", t.kind, t.subject, t.message, t.count, t."dueAt" FROM ${rowsOf}
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
       AND NOT EXISTS (SELECT FROM ${rowsOf} WHERE t."sellerId" = a.seller_id AND t.kind = a.kind AND t.subject = a.subject)`,
    wanted,
    [...kinds],
    among === null ? null : [...among],
  )
  return { opened: row?.opened ?? 0, resolved }
}
