import type { AlarmKind } from '../../domain/alarms/alarm-rules.ts'
import type { ReportedStatus } from '../../domain/alarms/marketplace-status.ts'
import type { SqlRunner } from '../db/database.ts'

/** The alarms that an outage of the marketplace can cause. */
const causedKinds: readonly AlarmKind[] = ['sync-failing', 'sync-behind', 'command-waiting']

/** A status is read again after this time, and while an alarm is open that an outage can cause, after the shorter one. */
const checkedForMs = 3_570_000
const checkedInOutageForMs = 270_000
/** An older status explains nothing: the marketplace no longer answers, or nobody asks. */
const validForMs = 7_200_000

/**
 * Those of these sellers for whom the status of their marketplace is to be read: active ones with an open alarm that an outage can cause and that was raised
 * after the status was read, or whose status was read five minutes ago; and those whose status was read an hour ago.
 */
export const findSellersWithDueStatus = async (sql: SqlRunner, sellerIds: readonly string[]): Promise<ReadonlySet<string>> => {
  const rows = await sql.query<{ seller_id: string }>(
    `SELECT o.seller_id FROM tallyman.sellers o WHERE o.seller_id = ANY ($1::text[]) AND o.state = 'active' AND (
       EXISTS (SELECT FROM tallyman.alarms a WHERE a.seller_id = o.seller_id AND a.kind = ANY ($2::text[]) AND a.resolved_at IS NULL
         AND NOT EXISTS (SELECT FROM tallyman.marketplace_status m WHERE m.seller_id = o.seller_id
           AND m.checked_at > greatest(a.raised_at, now() - make_interval(secs => $4::float8 / 1000))))
       OR NOT EXISTS (SELECT FROM tallyman.marketplace_status m
         WHERE m.seller_id = o.seller_id AND m.checked_at > now() - make_interval(secs => $3::float8 / 1000)))`,
    [...sellerIds],
    [...causedKinds],
    checkedForMs,
    checkedInOutageForMs,
  )
  return new Set(rows.map((row) => row.seller_id))
}

/**
 * Stores what the marketplace of these sellers reports, in one statement: groups that it no longer reports are removed. A status that is reported again keeps
 * its `since`; a new one without a time, or with a future one, begins now.
 * @param reported each group once
 */
export const storeMarketplaceStatus = async (
  sql: SqlRunner,
  sellerIds: readonly string[],
  reported: readonly (Omit<ReportedStatus, 'since'> & { readonly since: Date | null })[],
): Promise<void> => {
  await sql.execute(
    `WITH given AS (
       SELECT s.seller_id, t."apiGroup" AS api_group, t.status, least(t.since, now()) AS since
       FROM unnest($1::text[]) AS s(seller_id)
       CROSS JOIN jsonb_to_recordset($2::jsonb) AS t("apiGroup" text, status text, since timestamptz)
     ), removed AS (
       DELETE FROM tallyman.marketplace_status m WHERE m.seller_id = ANY ($1::text[])
         AND NOT EXISTS (SELECT FROM given g WHERE g.seller_id = m.seller_id AND g.api_group = m.api_group)
     )
     INSERT INTO tallyman.marketplace_status AS m (seller_id, api_group, status, since, checked_at)
     SELECT seller_id, api_group, status, since, now() FROM given ORDER BY seller_id, api_group
     ON CONFLICT (seller_id, api_group) DO UPDATE SET status = excluded.status, checked_at = excluded.checked_at,
       since = CASE WHEN m.status = excluded.status THEN m.since ELSE excluded.since END`,
    [...sellerIds],
    JSON.stringify(reported.map(({ since, ...group }) => ({ ...group, since: since?.toISOString() ?? null }))),
  )
}

/** What the marketplaces of these sellers report, by seller; nothing that was read more than two hours ago. */
export const readMarketplaceStatus = async (
  sql: SqlRunner,
  sellerIds: readonly string[],
): Promise<ReadonlyMap<string, readonly ReportedStatus[]>> => {
  const rows = await sql.query<ReportedStatus & { readonly sellerId: string }>(
    `SELECT seller_id AS "sellerId", api_group AS "apiGroup", status, since FROM tallyman.marketplace_status
     WHERE seller_id = ANY ($1::text[]) AND checked_at > now() - make_interval(secs => $2::float8 / 1000)
     ORDER BY seller_id, api_group`,
    [...new Set(sellerIds)],
    validForMs,
  )
  return Map.groupBy(rows, ({ sellerId }) => sellerId)
}
