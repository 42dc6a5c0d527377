import { type Campaign, describeAnomaly, judgeMove } from '../../domain/campaigns/campaign.ts'
import type { ChangeRecord } from '../../domain/changes/catalogue.ts'
import { raiseAlarm } from '../alarms/alarms.ts'
import type { SqlRunner, Transaction } from '../db/database.ts'
import { buildPage, type ListPage } from '../db/page.ts'
import { type SellerFilter, toSellerIds } from '../sellers/seller-filter.ts'
import { markTable } from '../versioned/table-marks.ts'
import { type LockedRow, mapLockedRows, versionedTable, type Written } from '../versioned/versioned-table.ts'
import { type DifferingRecord, jsonArray, jsonObject } from '../versioned/versions.ts'

markTable('warehouse.campaign_status_changes', {
  none: 'id seller_id campaign_id from_status to_status seen_at legal missed raw',
})

/** The terms of a campaign in the change feed. */
interface Terms {
  readonly name: string | null
  readonly startDate: string | null
  readonly endDate: string | null
  readonly dailyBudget: string | null
  readonly totalBudget: string | null
  readonly targetRoas: string | null
}

interface StoredState extends LockedRow, Terms {
  readonly status: string
}

// $1 seller, $2 time of observation, $3 status changes.
const writeStatusChanges = `
  INSERT INTO warehouse.campaign_status_changes (seller_id, campaign_id, from_status, to_status, seen_at, legal, missed, raw)
  SELECT $1, campaign_id, from_status, to_status, $2::timestamptz, legal,
    CASE jsonb_typeof(missed) WHEN 'array' THEN ARRAY(SELECT jsonb_array_elements_text(missed)) END, raw
  FROM jsonb_to_recordset($3::jsonb) AS t(campaign_id text, from_status text, to_status text, legal boolean, missed jsonb, raw jsonb)`

const pickTerms = ({ name, startDate, endDate, dailyBudget, totalBudget, targetRoas }: Terms) => ({
  name,
  startDate,
  endDate,
  dailyBudget,
  totalBudget,
  targetRoas,
})

const statusChanges = (sellerId: string, { campaignId, status }: Campaign, before: StoredState): readonly ChangeRecord[] => {
  if (before.status === status) return []
  const { legal, missed } = judgeMove(before.status, status)
  const data = { campaignId, from: before.status, to: status, legal, missed: missed === null ? null : [...missed] }
  return [{ sellerId, type: 'campaign.status_changed', data }]
}

// Decimals are compared as text: Postgres stores `100` and `100.00` as they were received.
const termsChanges = (sellerId: string, campaign: Campaign, stored: StoredState): readonly ChangeRecord[] => {
  const [before, after] = [pickTerms(stored), pickTerms(campaign)]
  if (JSON.stringify(before) === JSON.stringify(after)) return []
  return [{ sellerId, type: 'campaign.changed', data: { campaignId: campaign.campaignId, before, after } }]
}

const campaigns = versionedTable<Campaign, StoredState, StoredState>({
  name: 'campaigns',
  personalData: {
    none: `seller_id campaign_id name start_date end_date daily_budget total_budget target_roas status created_date missing_since raw_hash raw
      observed_at first_seen_at changed_at`,
  },
  resource: 'campaigns',
  key: ['campaign_id text'],
  columns: [
    'name text',
    'start_date date',
    'end_date date',
    'daily_budget numeric',
    'total_budget numeric',
    'target_roas numeric',
    'status text',
    'created_date date',
  ],
  row: (campaign) => ({
    name: campaign.name,
    start_date: campaign.startDate,
    end_date: campaign.endDate,
    daily_budget: campaign.dailyBudget,
    total_budget: campaign.totalBudget,
    target_roas: campaign.targetRoas,
    status: campaign.status,
    created_date: campaign.createdDate,
  }),
  marks: ['missing_since'],
  locked: `o.status, o.name, o.start_date::text AS "startDate", o.end_date::text AS "endDate", o.daily_budget::text AS "dailyBudget",
    o.total_budget::text AS "totalBudget", o.target_roas::text AS "targetRoas"`,
  before: mapLockedRows,
  changes: (sellerId, campaign, before) =>
    before === null
      ? [
          {
            sellerId,
            type: 'campaign.added',
            data: { campaignId: campaign.campaignId, status: campaign.status, ...pickTerms(campaign) },
          },
        ]
      : [...statusChanges(sellerId, campaign, before), ...termsChanges(sellerId, campaign, before)],
})

/** The records whose text differs from the stored one, or that were missing. Reads only. */
export const { findDiffering: findDifferingCampaigns } = campaigns

type WrittenCampaign = Written<Campaign, StoredState>

const moveText = ({ record, value, before }: WrittenCampaign): string =>
  jsonObject(
    {
      campaign_id: record.key,
      from_status: before?.status ?? null,
      to_status: value.status,
      ...(before === null ? { legal: null, missed: null } : judgeMove(before.status, value.status)),
    },
    { raw: record.rawText },
  )

/**
 * Stores records that {@link findDifferingCampaigns} found; returns the number of written ones. Every change of status gets a row with its time of
 * observation; one that the specification does not list is marked, and raises an alarm.
 */
export const storeDifferingCampaigns = async (
  tx: Transaction,
  sellerId: string,
  observedAt: Date,
  records: readonly DifferingRecord<Campaign>[],
): Promise<number> => {
  const written = await campaigns.write(tx, sellerId, observedAt, records)
  const moves = written.filter(({ value, before }) => before?.status !== value.status)
  if (moves.length > 0) {
    await tx.execute(writeStatusChanges, sellerId, observedAt.toISOString(), jsonArray(moves.map(moveText)))
  }
  for (const { record, value, before } of moves) {
    if (before === null || judgeMove(before.status, value.status).legal) continue
    const message = describeAnomaly(record.key, before.status, value.status)
    await raiseAlarm(tx, { sellerId, kind: 'campaign-anomaly', subject: record.key }, message)
  }
  return written.length
}

/** Identity of a campaign. */
export interface CampaignKey {
  readonly sellerId: string
  readonly campaignId: string
}

/** A campaign in lists; all fields except its identity are null until it was read. */
export interface CampaignSummary extends CampaignKey, Terms {
  readonly status: string | null
  readonly createdDate: string | null
  readonly watched: boolean
  /** Where it was added: settings, operator, sql. */
  readonly source: string | null
  readonly missingSince: Date | null
  /** Why the last read failed. */
  readonly problem: string | null
  readonly observedAt: Date | null
  readonly firstSeenAt: Date | null
  readonly changedAt: Date | null
}

/** Which campaigns to list; null: any. */
export interface CampaignFilter {
  readonly sellerId: SellerFilter
  readonly status: string | null
  readonly watched: boolean | null
  readonly campaignId?: string | null
}

// Includes watched campaigns that were never read.
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
      `($1::text[] IS NULL OR seller_id = ANY ($1::text[])) AND ($2::text IS NULL OR c.status = $2)
       AND ($3::boolean IS NULL OR (w.campaign_id IS NOT NULL AND w.removed_at IS NULL) = $3)
       AND ($4::text IS NULL OR (seller_id, campaign_id) > ($4, $5)) AND ($7::text IS NULL OR campaign_id = $7)`,
      'ORDER BY seller_id, campaign_id LIMIT $6::int',
    ),
    toSellerIds(filter.sellerId),
    filter.status,
    filter.watched,
    after?.sellerId ?? null,
    after?.campaignId ?? null,
    limit + 1,
    filter.campaignId ?? null,
  )
  return buildPage(rows, limit, ({ sellerId, campaignId }) => ({ sellerId, campaignId }))
}

/** Campaigns with this id, one for each seller that has it. */
export const findCampaigns = (sql: SqlRunner, campaignId: string): Promise<readonly CampaignSummary[]> =>
  sql.query<CampaignSummary>(selectCampaigns('campaign_id = $1', 'ORDER BY seller_id'), campaignId)

/** An observed change of status. */
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
