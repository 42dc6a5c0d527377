import type { SqlRunner } from '../db/database.ts'
import { buildPage, type ListPage } from '../db/page.ts'
import { type SellerFilter, toSellerIds } from '../sellers/seller-filter.ts'

/** Kinds of targets: audiences by behavior, and contexts. */
export const targetTactics = ['behavioral', 'contextual'] as const
/** One of {@link targetTactics}. */
export type TargetTactic = (typeof targetTactics)[number]

/** Identity of a target. */
export interface TargetKey {
  readonly sellerId: string
  readonly tactic: TargetTactic
  readonly id: bigint
}

/** A target or an audience of display advertising. */
export interface ListedTarget extends TargetKey {
  readonly name: string | null
  /** Names from the department down; null: it is not in the taxonomy. */
  readonly taxonPath: readonly string[] | null
  /** Number of items of its taxonomy node; null: unknown. */
  readonly itemCount: number | null
  /** Tiers of a contextual target; null: an audience. */
  readonly reach: readonly string[] | null
  /** LOW, MID, HIGH. */
  readonly reachBands: readonly string[] | null
  readonly audienceType: string | null
  readonly attribute: string | null
  readonly isDisabled: boolean | null
  readonly missingSince: Date | null
  /** Whether an ad group may use it now. */
  readonly usable: boolean
  readonly firstSeenAt: Date
  readonly changedAt: Date
}

/** Which targets to list; null: any. */
export interface TargetFilter {
  readonly sellerId: SellerFilter
  readonly tactic: TargetTactic | null
  readonly usable: boolean | null
  /** A part of the name or the path, case-insensitive. */
  readonly text: string | null
}

/** Targets by seller, tactic and id, after this key. */
export const listTargets = async (
  sql: SqlRunner,
  filter: TargetFilter,
  after: TargetKey | null,
  limit: number,
): Promise<ListPage<ListedTarget, TargetKey>> => {
  const rows = await sql.query<ListedTarget>(
    `WITH page AS MATERIALIZED (
       SELECT * FROM (
         SELECT seller_id, 'contextual' AS tactic, id, name, taxon_path, reach, reach_bands, NULL::text AS audience_type,
           NULL::text AS attribute, is_disabled, missing_since, first_seen_at, changed_at
         FROM warehouse.contextual_targets
         UNION ALL
         SELECT seller_id, 'behavioral' AS tactic, id, name, taxon_path, NULL, NULL, audience_type, attribute, is_disabled, missing_since,
           first_seen_at, changed_at
         FROM warehouse.behavioral_audiences
       ) t
       WHERE ($1::text[] IS NULL OR seller_id = ANY ($1::text[])) AND ($2::text IS NULL OR tactic = $2::text)
         AND ($3::boolean IS NULL OR (is_disabled IS FALSE AND missing_since IS NULL) = $3::boolean)
         AND ($4::text IS NULL OR strpos(lower(concat_ws(' ', name, array_to_string(taxon_path, ' '))), lower($4::text)) > 0)
         AND ($5::text IS NULL OR (seller_id, tactic, id) > ($5::text, $6::text, $7::bigint))
       ORDER BY seller_id, tactic, id LIMIT $8::int
     )
     SELECT p.seller_id AS "sellerId", p.tactic, p.id, p.name, p.taxon_path AS "taxonPath", n.item_count AS "itemCount", p.reach,
       p.reach_bands AS "reachBands", p.audience_type AS "audienceType", p.attribute, p.is_disabled AS "isDisabled",
       p.missing_since AS "missingSince", (p.is_disabled IS FALSE AND p.missing_since IS NULL) AS usable, p.first_seen_at AS "firstSeenAt",
       p.changed_at AS "changedAt"
     FROM page p
     LEFT JOIN LATERAL (
       SELECT item_count FROM warehouse.taxonomy_nodes n
       WHERE n.seller_id = p.seller_id AND n.level = cardinality(p.taxon_path) AND n.parent_path = trim_array(p.taxon_path, 1)
         AND n.path = p.taxon_path AND cardinality(p.taxon_path) > 0
       LIMIT 1
     ) n ON true
     ORDER BY p.seller_id, p.tactic, p.id`,
    toSellerIds(filter.sellerId),
    filter.tactic,
    filter.usable,
    filter.text,
    after?.sellerId ?? null,
    after?.tactic ?? null,
    after?.id ?? null,
    limit + 1,
  )
  return buildPage(rows, limit, ({ sellerId, tactic, id }) => ({ sellerId, tactic, id }))
}
