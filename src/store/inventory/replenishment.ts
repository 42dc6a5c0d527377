import type { ReplenishmentRecommendation } from '../../domain/inventory/replenishment.ts'
import type { SqlRunner, Transaction } from '../db/database.ts'
import { markTable } from '../versioned/table-marks.ts'
import { type DifferingRecord, findDiffering, jsonArray, jsonObject, type StorableRecord } from '../versioned/versions.ts'

markTable('warehouse.replenishment_recommendations', {
  none: `seller_id sku valid_from valid_to item_id gtin upc suggested_quantity max_quantity raw_hash raw observed_at first_seen_at
      changed_at`,
})
markTable('warehouse.current_replenishment_recommendations', {
  none: 'seller_id sku item_id gtin upc suggested_quantity max_quantity valid_from raw',
})

const probe = `
  SELECT array_agg(sku) AS keys, array_agg(encode(raw_hash, 'hex')) AS hashes
  FROM warehouse.replenishment_recommendations WHERE seller_id = $1 AND sku = ANY($2::text[]) AND valid_to IS NULL`

/** The records whose text differs from the current version. Reads only. */
export const findDifferingRecommendations = (
  sql: SqlRunner,
  sellerId: string,
  records: readonly StorableRecord<ReplenishmentRecommendation>[],
): Promise<readonly DifferingRecord<ReplenishmentRecommendation>[]> =>
  findDiffering(records, (distinct) =>
    sql.query(
      probe,
      sellerId,
      distinct.map(({ key }) => key),
    ),
  )

interface Quantities {
  readonly suggestedQuantity: number | null
  readonly maxQuantity: number | null
}

const pickQuantities = ({ suggestedQuantity, maxQuantity }: Quantities) => ({ suggestedQuantity, maxQuantity })

interface EndedRow extends Quantities {
  readonly sku: string
}

const endVersions = (tx: Transaction, sellerId: string, observedAt: Date, skus: readonly string[]): Promise<EndedRow[]> =>
  tx.query<EndedRow>(
    `UPDATE warehouse.replenishment_recommendations SET valid_to = $3::timestamptz, changed_at = now()
     WHERE (seller_id, sku, valid_from) IN (
       SELECT seller_id, sku, valid_from FROM warehouse.replenishment_recommendations
       WHERE seller_id = $1 AND sku = ANY($2::text[]) AND valid_to IS NULL AND valid_from < $3::timestamptz
       ORDER BY sku FOR UPDATE)
     RETURNING sku, suggested_quantity AS "suggestedQuantity", max_quantity AS "maxQuantity"`,
    sellerId,
    skus,
    observedAt.toISOString(),
  )

// $1 seller, $2 time of observation, $3 recommendations. A SKU with a later or a current version gets none.
const writeVersions = `
  INSERT INTO warehouse.replenishment_recommendations (seller_id, sku, valid_from, item_id, gtin, upc, suggested_quantity, max_quantity,
    raw_hash, raw, observed_at, first_seen_at, changed_at)
  SELECT $1, r.sku, $2::timestamptz, r.item_id, r.gtin, r.upc, r.suggested_quantity, r.max_quantity, decode(r.raw_hash, 'hex'), r.raw,
    $2::timestamptz, now(), now()
  FROM jsonb_to_recordset($3::jsonb) AS r(sku text, item_id text, gtin text, upc text, suggested_quantity int, max_quantity int,
    raw_hash text, raw jsonb)
  WHERE NOT EXISTS (SELECT 1 FROM warehouse.replenishment_recommendations v
    WHERE v.seller_id = $1 AND v.sku = r.sku AND (v.valid_to IS NULL OR v.valid_to > $2::timestamptz))
  ON CONFLICT DO NOTHING
  RETURNING sku`

const rowText = ({ key, hash, rawText, value }: DifferingRecord<ReplenishmentRecommendation>): string =>
  jsonObject(
    {
      sku: key,
      item_id: value.itemId,
      gtin: value.gtin,
      upc: value.upc,
      suggested_quantity: value.suggestedQuantity,
      max_quantity: value.maxQuantity,
      raw_hash: hash,
    },
    { raw: rawText },
  )

/**
 * Stores records that {@link findDifferingRecommendations} found, each as a version that is valid since its observation and ends the previous one; returns
 * the number of written ones. An older observation never overwrites a newer one.
 */
export const storeDifferingRecommendations = async (
  tx: Transaction,
  sellerId: string,
  observedAt: Date,
  records: readonly DifferingRecord<ReplenishmentRecommendation>[],
): Promise<number> => {
  if (records.length === 0) return 0
  const skus = records.map((record) => record.key)
  const ended = new Map((await endVersions(tx, sellerId, observedAt, skus)).map((row) => [row.sku, row]))
  const rows = await tx.query<{ sku: string }>(writeVersions, sellerId, observedAt.toISOString(), jsonArray(records.map(rowText)))
  const written = new Set(rows.map((row) => row.sku))
  for (const { key: sku, value } of records) {
    if (!written.has(sku)) continue
    const row = ended.get(sku)
    const before = row === undefined ? null : pickQuantities(row)
    const after = pickQuantities(value)
    if (JSON.stringify(before) === JSON.stringify(after)) continue
    tx.record({ sellerId, type: 'replenishment.changed', data: { sku, before, after } })
  }
  return rows.length
}

/** A few SKUs with current recommendations, newest first. */
export const sampleRecommendedSkus = async (sql: SqlRunner, sellerId: string): Promise<readonly string[]> => {
  const rows = await sql.prisma.replenishmentRecommendation.findMany({
    where: { sellerId, validTo: null },
    orderBy: [{ validFrom: 'desc' }, { sku: 'asc' }],
    take: 50,
    select: { sku: true },
  })
  return rows.map((row) => row.sku)
}

/** Those of these SKUs that have a stored current recommendation. */
export const filterRecommended = async (
  sql: SqlRunner,
  sellerId: string,
  skus: readonly string[],
): Promise<readonly string[]> => {
  const rows = await sql.prisma.replenishmentRecommendation.findMany({
    where: { sellerId, validTo: null, sku: { in: [...skus] } },
    orderBy: { sku: 'asc' },
    select: { sku: true },
  })
  return rows.map((row) => row.sku)
}

/** Ends recommendations that the marketplace no longer returns. */
export const endRecommendations = async (
  tx: Transaction,
  sellerId: string,
  observedAt: Date,
  skus: readonly string[],
): Promise<number> => {
  if (skus.length === 0) return 0
  const ended = await endVersions(tx, sellerId, observedAt, skus)
  for (const row of ended) {
    tx.record({ sellerId, type: 'replenishment.changed', data: { sku: row.sku, before: pickQuantities(row), after: null } })
  }
  return ended.length
}
