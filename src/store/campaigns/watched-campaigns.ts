import type { CampaignState } from '../../domain/campaigns/campaign.ts'
import { raiseAlarm, resolveAlarm } from '../alarms/alarms.ts'
import type { SqlRunner, Transaction } from '../db/database.ts'

/** A watched campaign, for the sync. */
export interface WatchedCampaign {
  readonly campaignId: string
  /** The stored state; null: it was never read. */
  readonly state: CampaignState | null
  /** Why the last read failed. */
  readonly problem: string | null
}

/** A campaign that could not be read. */
export interface CampaignProblem {
  readonly campaignId: string
  /** The error, without personal data. */
  readonly problem: string
  /** The marketplace rejects this campaign: a retry does not help. */
  readonly refused: boolean
}

/** Updates the watched campaigns of the settings. A campaign that a person has stopped watching stays unwatched. */
export const recordConfiguredCampaigns = async (
  sql: SqlRunner,
  sellers: readonly { readonly sellerId: string; readonly campaignIds: readonly string[] }[],
): Promise<void> => {
  const configured = JSON.stringify(
    sellers.flatMap(({ sellerId, campaignIds }) => campaignIds.map((id) => ({ seller_id: sellerId, id }))),
  )
  await sql.execute(
    `INSERT INTO tallyman.watched_campaigns AS w (seller_id, campaign_id, source)
     SELECT DISTINCT t.seller_id, t.id, 'settings' FROM jsonb_to_recordset($1::jsonb) AS t(seller_id text, id text) WHERE t.id <> ''
     ORDER BY t.seller_id, t.id
     ON CONFLICT (seller_id, campaign_id) DO UPDATE
     SET source = excluded.source, added_at = now(), removed_at = NULL, removed_by = NULL
     WHERE w.removed_by = 'settings'`,
    configured,
  )
  await sql.execute(
    `UPDATE tallyman.watched_campaigns w SET removed_at = now(), removed_by = 'settings'
     WHERE w.seller_id = ANY ($1::text[]) AND w.source = 'settings' AND w.removed_at IS NULL AND NOT EXISTS (
       SELECT FROM jsonb_to_recordset($2::jsonb) AS t(seller_id text, id text) WHERE t.seller_id = w.seller_id AND t.id = w.campaign_id)`,
    sellers.map(({ sellerId }) => sellerId),
    configured,
  )
}

/** Watches campaigns; returns those that were not watched before. */
export const watchCampaigns = async (
  sql: SqlRunner,
  sellerId: string,
  campaignIds: readonly string[],
  source: string,
): Promise<readonly string[]> => {
  const rows = await sql.query<{ campaign_id: string }>(
    `INSERT INTO tallyman.watched_campaigns AS w (seller_id, campaign_id, source)
     SELECT DISTINCT $1, id, $3 FROM unnest($2::text[]) AS id
     ON CONFLICT (seller_id, campaign_id) DO UPDATE
     SET source = excluded.source, added_at = now(), removed_at = NULL, removed_by = NULL, missing_since = NULL, problem = NULL,
       problem_since = NULL
     WHERE w.removed_at IS NOT NULL
     RETURNING campaign_id`,
    sellerId,
    campaignIds,
    source,
  )
  return rows.map((row) => row.campaign_id).sort()
}

/** Stops watching a campaign and resolves its alarms; its stored data stays. False: it was not watched. */
export const unwatchCampaign = async (
  tx: Transaction,
  sellerId: string,
  campaignId: string,
  removedBy: string,
): Promise<boolean> => {
  const removed = await tx.execute(
    `UPDATE tallyman.watched_campaigns SET removed_at = now(), removed_by = $3
     WHERE seller_id = $1 AND campaign_id = $2 AND removed_at IS NULL`,
    sellerId,
    campaignId,
    removedBy,
  )
  if (removed === 0) return false
  for (const kind of ['campaign-missing', 'campaign-unreadable', 'campaign-anomaly'] as const) {
    await resolveAlarm(tx, { sellerId, kind, subject: campaignId })
  }
  return true
}

/** Watched campaigns of a seller, by id, after this one. */
export const listWatchedCampaigns = async (
  sql: SqlRunner,
  sellerId: string,
  after: string,
  limit: number,
): Promise<readonly WatchedCampaign[]> => {
  const rows = await sql.query<{
    campaign_id: string
    problem: string | null
    missing: boolean
    status: string | null
    start_date: string | null
    end_date: string | null
  }>(
    `SELECT w.campaign_id, w.problem, w.missing_since IS NOT NULL AS missing, c.status, c.start_date::text, c.end_date::text
     FROM tallyman.watched_campaigns w LEFT JOIN warehouse.campaigns c USING (seller_id, campaign_id)
     WHERE w.seller_id = $1 AND w.removed_at IS NULL AND w.campaign_id > $2
     ORDER BY w.campaign_id LIMIT $3::int`,
    sellerId,
    after,
    limit,
  )
  return rows.map((row) => ({
    campaignId: row.campaign_id,
    problem: row.problem,
    state:
      row.status === null && !row.missing
        ? null
        : { status: row.status ?? '', startDate: row.start_date, endDate: row.end_date, missing: row.missing },
  }))
}

const missingAlarm = (campaignId: string): string =>
  `the marketplace has no campaign ${campaignId} of this seller: correct its id in CAMPAIGN_IDS (or campaignIds of SELLERS_FILE), or stop watching it with "tallyman campaigns unwatch ${campaignId}"`

/** Marks campaigns as missing at the marketplace, and raises an alarm for each newly marked one. Returns their number. */
export const markMissingCampaigns = async (
  tx: Transaction,
  sellerId: string,
  observedAt: Date,
  campaignIds: readonly string[],
): Promise<number> => {
  if (campaignIds.length === 0) return 0
  // Rows of campaigns are always locked before those of watched campaigns.
  await tx.execute(
    `UPDATE warehouse.campaigns SET missing_since = $3::timestamptz
     WHERE seller_id = $1 AND campaign_id = ANY($2::text[]) AND missing_since IS NULL AND observed_at <= $3::timestamptz`,
    sellerId,
    campaignIds,
    observedAt.toISOString(),
  )
  const rows = await tx.query<{ campaign_id: string }>(
    `UPDATE tallyman.watched_campaigns SET missing_since = $3::timestamptz, problem = NULL, problem_since = NULL
     WHERE seller_id = $1 AND campaign_id = ANY($2::text[]) AND removed_at IS NULL AND missing_since IS NULL
     RETURNING campaign_id`,
    sellerId,
    campaignIds,
    observedAt.toISOString(),
  )
  const missing = rows.map((row) => row.campaign_id).sort()
  for (const campaignId of missing) {
    await resolveAlarm(tx, { sellerId, kind: 'campaign-unreadable', subject: campaignId })
    await raiseAlarm(tx, { sellerId, kind: 'campaign-missing', subject: campaignId }, missingAlarm(campaignId))
    tx.record({ sellerId, type: 'campaign.missing', data: { campaignId } })
  }
  return missing.length
}

/** Clears the problem, the missing mark and the alarms of campaigns that were read again. */
export const recordReadCampaigns = async (tx: Transaction, sellerId: string, campaignIds: readonly string[]): Promise<void> => {
  if (campaignIds.length === 0) return
  await tx.execute(
    `UPDATE warehouse.campaigns SET missing_since = NULL
     WHERE seller_id = $1 AND campaign_id = ANY($2::text[]) AND missing_since IS NOT NULL`,
    sellerId,
    campaignIds,
  )
  const found = await tx.query<{ campaign_id: string }>(
    `WITH before AS (
       SELECT campaign_id, missing_since FROM tallyman.watched_campaigns
       WHERE seller_id = $1 AND campaign_id = ANY($2::text[]) ORDER BY campaign_id FOR UPDATE
     ), cleared AS (
       UPDATE tallyman.watched_campaigns w SET missing_since = NULL, problem = NULL, problem_since = NULL
       FROM before b WHERE w.seller_id = $1 AND w.campaign_id = b.campaign_id
     )
     SELECT campaign_id FROM before WHERE missing_since IS NOT NULL ORDER BY campaign_id`,
    sellerId,
    campaignIds,
  )
  for (const campaignId of campaignIds) {
    await resolveAlarm(tx, { sellerId, kind: 'campaign-missing', subject: campaignId })
    await resolveAlarm(tx, { sellerId, kind: 'campaign-unreadable', subject: campaignId })
  }
  for (const { campaign_id: campaignId } of found) tx.record({ sellerId, type: 'campaign.found', data: { campaignId } })
}

/** An alarm is raised when a campaign was unreadable for this long. */
const alarmAfter = '1 hour'

/** Stores why campaigns could not be read. A rejected campaign raises an alarm immediately, any other after an hour. */
export const recordCampaignProblems = async (
  tx: Transaction,
  sellerId: string,
  problems: readonly CampaignProblem[],
): Promise<void> => {
  for (const { campaignId, problem, refused } of problems) {
    const [stored] = await tx.query<{ long: boolean }>(
      `UPDATE tallyman.watched_campaigns SET problem = $3, problem_since = coalesce(problem_since, now())
       WHERE seller_id = $1 AND campaign_id = $2 AND removed_at IS NULL
       RETURNING problem_since < now() - interval '${alarmAfter}' AS long`,
      sellerId,
      campaignId,
      problem,
    )
    if (stored === undefined || (!refused && !stored.long)) continue
    await raiseAlarm(
      tx,
      { sellerId, kind: 'campaign-unreadable', subject: campaignId },
      `campaign ${campaignId} cannot be read: ${problem}; if its id is wrong, correct it or stop watching it with "tallyman campaigns unwatch ${campaignId}"`,
    )
  }
}
