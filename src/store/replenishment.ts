import type { ReplenishmentRecommendation } from '../domain/replenishment.ts'
import type { SqlRunner, Transaction } from './database.ts'
import { markTable } from './table-marks.ts'
import { type DifferingRecord, findDiffering, jsonArray, jsonObject, type StorableRecord } from './versions.ts'

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

/** Those records whose text differs from the current version. Reads only. */
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

const quantitiesOf = ({ suggestedQuantity, maxQuantity }: Quantities) => ({ suggestedQuantity, maxQuantity })

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

// $1 seller, $2 observed at, $3 recommendations. A SKU of which a later version is known, or that has a current one, gets none.
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
 * Stores records that {@link findDifferingRecommendations} found, each as a version that is valid from when it was observed and ends the one before;
 * answers how many were written. An older observation never overwrites a newer one.
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
    const before = row === undefined ? null : quantitiesOf(row)
    const after = quantitiesOf(value)
    if (JSON.stringify(before) === JSON.stringify(after)) continue
    tx.record({ sellerId, type: 'replenishment.changed', data: { sku, before, after } })
  }
  return rows.length
}

/** A few SKUs that are recommended now, the newest first. */
export const someRecommended = async (sql: SqlRunner, sellerId: string): Promise<readonly string[]> => {
  const rows = await sql.prisma.replenishmentRecommendation.findMany({
    where: { sellerId, validTo: null },
    orderBy: [{ validFrom: 'desc' }, { sku: 'asc' }],
    take: 50,
    select: { sku: true },
  })
  return rows.map((row) => row.sku)
}

/** Of these SKUs, those for which a recommendation is stored as current. */
export const currentlyRecommended = async (
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

/** Ends recommendations that the marketplace no longer gives. */
export const endRecommendations = async (
  tx: Transaction,
  sellerId: string,
  observedAt: Date,
  skus: readonly string[],
): Promise<number> => {
  if (skus.length === 0) return 0
  const ended = await endVersions(tx, sellerId, observedAt, skus)
  for (const row of ended) {
    tx.record({ sellerId, type: 'replenishment.changed', data: { sku: row.sku, before: quantitiesOf(row), after: null } })
  }
  return ended.length
}
