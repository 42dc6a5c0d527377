import { type Campaign, describeAnomaly, judgeMove } from '../domain/campaign.ts'
import { raiseAlarm } from './alarms.ts'
import type { SqlRunner, Transaction } from './database.ts'
import { type ListPage, pageOf } from './page.ts'
import { type DifferingRecord, findDiffering, jsonArray, jsonObject, type StorableRecord } from './versions.ts'

const probe = `
  SELECT array_agg(campaign_id) AS keys, array_agg(encode(raw_hash, 'hex')) AS hashes
  FROM warehouse.campaigns WHERE seller_id = $1 AND campaign_id = ANY($2::text[])`

/** Those records whose text differs from what is stored. Reads only. */
export const findDifferingCampaigns = (
  sql: SqlRunner,
  sellerId: string,
  records: readonly StorableRecord<Campaign>[],
): Promise<readonly DifferingRecord<Campaign>[]> => findDiffering(sql, probe, sellerId, records)

/** What the change feed tells of a campaign, beside its status. */
interface Terms {
  readonly name: string | null
  readonly startDate: string | null
  readonly endDate: string | null
  readonly dailyBudget: string | null
  readonly totalBudget: string | null
  readonly targetRoas: string | null
}

interface StoredState extends Terms {
  readonly campaignId: string
  readonly status: string
  readonly hash: string
  readonly observedAt: Date
}

const lockCampaigns = (tx: Transaction, sellerId: string, campaignIds: readonly string[]): Promise<StoredState[]> =>
  tx.query<StoredState>(
    `SELECT campaign_id AS "campaignId", status, name, start_date::text AS "startDate", end_date::text AS "endDate",
       daily_budget::text AS "dailyBudget", total_budget::text AS "totalBudget", target_roas::text AS "targetRoas",
       encode(raw_hash, 'hex') AS hash, observed_at AS "observedAt"
     FROM warehouse.campaigns WHERE seller_id = $1 AND campaign_id = ANY($2::text[]) ORDER BY campaign_id FOR UPDATE`,
    sellerId,
    campaignIds,
  )

// $1 seller, $2 observed at, $3 campaigns. Known ones are locked by the caller. Answers what was written: a new one that someone else
// has stored meanwhile was not.
const writeCampaigns = `
  WITH reported AS MATERIALIZED (
    SELECT * FROM jsonb_to_recordset($3::jsonb) AS t(campaign_id text, raw_hash text, name text, start_date date, end_date date,
      daily_budget numeric, total_budget numeric, target_roas numeric, status text, created_date date, raw jsonb)
  ), superseded AS (
    INSERT INTO tallyman.superseded_versions (seller_id, resource, record_key, raw_hash, raw, first_seen_at, last_seen_at)
    SELECT $1, 'campaigns', c.campaign_id, c.raw_hash, c.raw, c.changed_at, now()
    FROM warehouse.campaigns c JOIN reported r USING (campaign_id) WHERE c.seller_id = $1
    ON CONFLICT DO NOTHING
  ), updated AS (
    UPDATE warehouse.campaigns c
    SET name = r.name, start_date = r.start_date, end_date = r.end_date, daily_budget = r.daily_budget, total_budget = r.total_budget,
      target_roas = r.target_roas, status = r.status, created_date = r.created_date, missing_since = NULL,
      raw_hash = decode(r.raw_hash, 'hex'), raw = r.raw, observed_at = $2::timestamptz, changed_at = now()
    FROM reported r WHERE c.seller_id = $1 AND c.campaign_id = r.campaign_id
    RETURNING c.campaign_id
  ), inserted AS (
    INSERT INTO warehouse.campaigns (seller_id, campaign_id, name, start_date, end_date, daily_budget, total_budget, target_roas, status,
      created_date, raw_hash, raw, observed_at, first_seen_at, changed_at)
    SELECT $1, campaign_id, name, start_date, end_date, daily_budget, total_budget, target_roas, status, created_date,
      decode(raw_hash, 'hex'), raw, $2::timestamptz, now(), now()
    FROM reported WHERE campaign_id NOT IN (SELECT campaign_id FROM updated)
    ON CONFLICT DO NOTHING
    RETURNING campaign_id
  )
  SELECT campaign_id FROM updated UNION ALL SELECT campaign_id FROM inserted`

// $1 seller, $2 seen at, $3 moves.
const writeStatusChanges = `
  INSERT INTO warehouse.campaign_status_changes (seller_id, campaign_id, from_status, to_status, seen_at, legal, missed, raw)
  SELECT $1, campaign_id, from_status, to_status, $2::timestamptz, legal,
    CASE jsonb_typeof(missed) WHEN 'array' THEN ARRAY(SELECT jsonb_array_elements_text(missed)) END, raw
  FROM jsonb_to_recordset($3::jsonb) AS t(campaign_id text, from_status text, to_status text, legal boolean, missed jsonb, raw jsonb)`

const termsOf = ({ name, startDate, endDate, dailyBudget, totalBudget, targetRoas }: Terms) => ({
  name,
  startDate,
  endDate,
  dailyBudget,
  totalBudget,
  targetRoas,
})

const rowText = ({ key, hash, rawText, value }: DifferingRecord<Campaign>): string =>
  jsonObject(
    {
      campaign_id: key,
      raw_hash: hash,
      name: value.name,
      start_date: value.startDate,
      end_date: value.endDate,
      daily_budget: value.dailyBudget,
      total_budget: value.totalBudget,
      target_roas: value.targetRoas,
      status: value.status,
      created_date: value.createdDate,
    },
    { raw: rawText },
  )

/** A campaign whose status is another than before, or that is seen for the first time. */
interface Move {
  readonly record: DifferingRecord<Campaign>
  readonly from: string | null
}

const moveText = ({ record, from }: Move): string =>
  jsonObject(
    {
      campaign_id: record.key,
      from_status: from,
      to_status: record.value.status,
      ...(from === null ? { legal: null, missed: null } : judgeMove(from, record.value.status)),
    },
    { raw: record.rawText },
  )

// Decimals as Postgres prints them differ from the wire's only in form (`100` and `100.00` are stored as they came).
const tellChanges = (tx: Transaction, sellerId: string, { key, value }: DifferingRecord<Campaign>, before: StoredState): void => {
  const [termsBefore, termsAfter] = [termsOf(before), termsOf(value)]
  if (JSON.stringify(termsBefore) === JSON.stringify(termsAfter)) return
  tx.tell({ sellerId, type: 'campaign.changed', data: { campaignId: key, before: termsBefore, after: termsAfter } })
}

const tellMove = async (tx: Transaction, sellerId: string, { record, from }: Move): Promise<void> => {
  const { key: campaignId, value } = record
  const { status } = value
  if (from === null) {
    tx.tell({ sellerId, type: 'campaign.added', data: { campaignId, status, ...termsOf(value) } })
    return
  }
  const { legal, missed } = judgeMove(from, status)
  tx.tell({
    sellerId,
    type: 'campaign.status_changed',
    data: { campaignId, from, to: status, legal, missed: missed === null ? null : [...missed] },
  })
  if (!legal) {
    await raiseAlarm(tx, { sellerId, kind: 'campaign-anomaly', subject: campaignId }, describeAnomaly(campaignId, from, status))
  }
}

/**
 * Stores records that {@link findDifferingCampaigns} found; answers how many were written. Every change of status gets a row of its own, with when
 * it was seen; a move that the specification does not list is marked and raises an alarm. An older observation never overwrites a newer one; the
 * version that is replaced is kept.
 */
export const storeDifferingCampaigns = async (
  tx: Transaction,
  sellerId: string,
  observedAt: Date,
  records: readonly DifferingRecord<Campaign>[],
): Promise<number> => {
  if (records.length === 0) return 0
  const locked = await lockCampaigns(
    tx,
    sellerId,
    records.map((record) => record.key),
  )
  const stored = new Map(locked.map((state) => [state.campaignId, state]))
  const outdated = records.filter((record) => {
    const before = stored.get(record.key)
    return before === undefined || (before.observedAt <= observedAt && before.hash !== record.hash)
  })
  if (outdated.length === 0) return 0
  const rows = await tx.query<{ campaign_id: string }>(
    writeCampaigns,
    sellerId,
    observedAt.toISOString(),
    jsonArray(outdated.map(rowText)),
  )
  const keys = new Set(rows.map((row) => row.campaign_id))
  const written = outdated.filter((record) => keys.has(record.key))
  const moves = written.flatMap((record): Move[] => {
    const from = stored.get(record.key)?.status ?? null
    return from === record.value.status ? [] : [{ record, from }]
  })
  if (moves.length > 0) {
    await tx.execute(writeStatusChanges, sellerId, observedAt.toISOString(), jsonArray(moves.map(moveText)))
  }
  for (const move of moves) await tellMove(tx, sellerId, move)
  for (const record of written) {
    const before = stored.get(record.key)
    if (before !== undefined) tellChanges(tx, sellerId, record, before)
  }
  return written.length
}

/** Identity of a campaign, and its place in lists. */
export interface CampaignKey {
  readonly sellerId: string
  readonly campaignId: string
}

/** A campaign as lists show it; all but its identity is null as long as it was never read. */
export interface CampaignSummary extends CampaignKey, Terms {
  readonly status: string | null
  readonly createdDate: string | null
  readonly watched: boolean
  /** Who named it: settings, operator, sql. */
  readonly source: string | null
  readonly missingSince: Date | null
  /** Why it could not be read last time. */
  readonly problem: string | null
  readonly observedAt: Date | null
  readonly firstSeenAt: Date | null
  readonly changedAt: Date | null
}

/** Which campaigns to list; null: any. */
export interface CampaignFilter {
  readonly sellerId: string | null
  readonly status: string | null
  readonly watched: boolean | null
}

// Watched ones that were never read are listed too, so that a person sees what was asked for.
const selectCampaigns = (condition: string, tail: string): string => `
  SELECT seller_id AS "sellerId", campaign_id AS "campaignId", c.name, c.status, c.start_date::text AS "startDate",
    c.end_date::text AS "endDate", c.daily_budget::text AS "dailyBudget", c.total_budget::text AS "totalBudget",
    c.target_roas::text AS "targetRoas", c.created_date::text AS "createdDate",
    (w.campaign_id IS NOT NULL AND w.removed_at IS NULL) AS watched, w.source, w.problem,
    coalesce(w.missing_since, c.missing_since) AS "missingSince", c.observed_at AS "observedAt", c.first_seen_at AS "firstSeenAt",
    c.changed_at AS "changedAt"
  FROM warehouse.campaigns c FULL JOIN tallyman.watched_campaigns w USING (seller_id, campaign_id)
  WHERE (c.campaign_id IS NOT NULL OR w.removed_at IS NULL) AND ${condition} ${tail}`

/** Campaigns by seller and campaign id, after this key. */
export const listCampaigns = async (
  sql: SqlRunner,
  filter: CampaignFilter,
  after: CampaignKey | null,
  limit: number,
): Promise<ListPage<CampaignSummary, CampaignKey>> => {
  const rows = await sql.query<CampaignSummary>(
    selectCampaigns(
      `($1::text IS NULL OR seller_id = $1) AND ($2::text IS NULL OR c.status = $2)
       AND ($3::boolean IS NULL OR (w.campaign_id IS NOT NULL AND w.removed_at IS NULL) = $3)
       AND ($4::text IS NULL OR (seller_id, campaign_id) > ($4, $5))`,
      'ORDER BY seller_id, campaign_id LIMIT $6::int',
    ),
    filter.sellerId,
    filter.status,
    filter.watched,
    after?.sellerId ?? null,
    after?.campaignId ?? null,
    limit + 1,
  )
  return pageOf(rows, limit, ({ sellerId, campaignId }) => ({ sellerId, campaignId }))
}

/** Campaigns by this id, one for each seller that has it: ids are the marketplace's, and each seller sees its own. */
export const findCampaigns = (sql: SqlRunner, campaignId: string): Promise<readonly CampaignSummary[]> =>
  sql.query<CampaignSummary>(selectCampaigns('campaign_id = $1', 'ORDER BY seller_id'), campaignId)

/** A change of status as it was seen. */
export interface CampaignStatusChange {
  readonly fromStatus: string | null
  readonly toStatus: string
  readonly seenAt: Date
  readonly legal: boolean | null
  readonly missed: readonly string[] | null
}

/** The newest changes of status of a campaign, oldest first. */
export const readStatusChanges = async (
  sql: SqlRunner,
  { sellerId, campaignId }: CampaignKey,
  limit: number,
): Promise<readonly CampaignStatusChange[]> => {
  const rows = await sql.query<CampaignStatusChange>(
    `SELECT from_status AS "fromStatus", to_status AS "toStatus", seen_at AS "seenAt", legal, missed
     FROM warehouse.campaign_status_changes WHERE seller_id = $1 AND campaign_id = $2 ORDER BY id DESC LIMIT $3::int`,
    sellerId,
    campaignId,
    limit,
  )
  return rows.reverse()
}
