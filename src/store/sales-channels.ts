import type { SalesChannel } from '../domain/sales-channel.ts'
import type { SqlRunner, Transaction } from './database.ts'
import { type DifferingRecord, findDiffering, jsonArray, jsonObject, type StorableRecord } from './versions.ts'

// One that was gone and is back counts as differing, whatever its text.
const probe = `
  SELECT array_agg(order_channel_id) AS keys, array_agg(encode(raw_hash, 'hex')) AS hashes
  FROM warehouse.sales_channels WHERE seller_id = $1 AND order_channel_id = ANY($2::text[]) AND missing_since IS NULL`

/** Those records whose text differs from what is stored, or that were gone. Reads only. */
export const findDifferingSalesChannels = (
  sql: SqlRunner,
  sellerId: string,
  records: readonly StorableRecord<SalesChannel>[],
): Promise<readonly DifferingRecord<SalesChannel>[]> => findDiffering(sql, probe, sellerId, records)

/** What the change feed tells of a channel. */
interface ChannelState {
  readonly orderChannelName: string | null
  readonly boxCatalogType: string | null
  readonly shippingMethods: string | null
  readonly active: boolean | null
}

const stateOf = ({ orderChannelName, boxCatalogType, shippingMethods, active }: ChannelState) => ({
  orderChannelName,
  boxCatalogType,
  shippingMethods,
  active,
})

interface LockedRow extends ChannelState {
  readonly orderChannelId: string
  readonly observedAt: Date
}

const lockChannels = (tx: Transaction, sellerId: string, keys: readonly string[]): Promise<LockedRow[]> =>
  tx.query<LockedRow>(
    `SELECT order_channel_id AS "orderChannelId", order_channel_name AS "orderChannelName", box_catalog_type AS "boxCatalogType",
       shipping_methods AS "shippingMethods", active, observed_at AS "observedAt"
     FROM warehouse.sales_channels WHERE seller_id = $1 AND order_channel_id = ANY($2::text[]) ORDER BY order_channel_id FOR UPDATE`,
    sellerId,
    keys,
  )

const columns = `order_channel_name, box_catalog_type, shipping_methods, active, partner_id, partner_name, mart_id, created_date,
  return_line1, return_line2, return_line3, return_city, return_state, return_country, return_zip, return_address_type, raw`

// $1 seller, $2 observed at, $3 channels. Known ones are locked by the caller. Answers what was written.
const writeChannels = `
  WITH reported AS MATERIALIZED (
    SELECT * FROM jsonb_to_recordset($3::jsonb) AS t(order_channel_id text, raw_hash text, order_channel_name text, box_catalog_type text,
      shipping_methods text, active boolean, partner_id text, partner_name text, mart_id text, created_date timestamptz, return_line1 text,
      return_line2 text, return_line3 text, return_city text, return_state text, return_country text, return_zip text,
      return_address_type text, raw jsonb)
  ), superseded AS (
    INSERT INTO tallyman.superseded_versions (seller_id, resource, record_key, raw_hash, raw, first_seen_at, last_seen_at)
    SELECT $1, 'sales-channels', c.order_channel_id, c.raw_hash, c.raw, c.changed_at, now()
    FROM warehouse.sales_channels c JOIN reported r USING (order_channel_id)
    WHERE c.seller_id = $1 AND c.raw_hash <> decode(r.raw_hash, 'hex')
    ON CONFLICT DO NOTHING
  ), updated AS (
    UPDATE warehouse.sales_channels c
    SET (${columns}) = (SELECT ${columns} FROM reported r WHERE r.order_channel_id = c.order_channel_id),
      raw_hash = (SELECT decode(r.raw_hash, 'hex') FROM reported r WHERE r.order_channel_id = c.order_channel_id),
      missing_since = NULL, observed_at = $2::timestamptz, changed_at = now()
    WHERE c.seller_id = $1 AND c.order_channel_id IN (SELECT order_channel_id FROM reported)
    RETURNING c.order_channel_id
  ), inserted AS (
    INSERT INTO warehouse.sales_channels (seller_id, order_channel_id, ${columns}, raw_hash, observed_at, first_seen_at, changed_at)
    SELECT $1, order_channel_id, ${columns}, decode(raw_hash, 'hex'), $2::timestamptz, now(), now()
    FROM reported WHERE order_channel_id NOT IN (SELECT order_channel_id FROM updated)
    ON CONFLICT DO NOTHING
    RETURNING order_channel_id
  )
  SELECT order_channel_id FROM updated UNION ALL SELECT order_channel_id FROM inserted`

const rowText = ({ key, hash, rawText, value }: DifferingRecord<SalesChannel>): string =>
  jsonObject(
    {
      order_channel_id: key,
      raw_hash: hash,
      order_channel_name: value.orderChannelName,
      box_catalog_type: value.boxCatalogType,
      shipping_methods: value.shippingMethods,
      active: value.active,
      partner_id: value.partnerId,
      partner_name: value.partnerName,
      mart_id: value.martId,
      created_date: value.createdDate,
      return_line1: value.returnAddress?.line1,
      return_line2: value.returnAddress?.line2,
      return_line3: value.returnAddress?.line3,
      return_city: value.returnAddress?.city,
      return_state: value.returnAddress?.state,
      return_country: value.returnAddress?.country,
      return_zip: value.returnAddress?.zip,
      return_address_type: value.returnAddress?.addressType,
    },
    { raw: rawText },
  )

/**
 * Stores records that {@link findDifferingSalesChannels} found; answers how many were written. An older observation never overwrites a newer one;
 * the version that is replaced is kept.
 */
export const storeDifferingSalesChannels = async (
  tx: Transaction,
  sellerId: string,
  observedAt: Date,
  records: readonly DifferingRecord<SalesChannel>[],
): Promise<number> => {
  if (records.length === 0) return 0
  const keys = records.map((record) => record.key)
  const stored = new Map((await lockChannels(tx, sellerId, keys)).map((row) => [row.orderChannelId, row]))
  const outdated = records.filter((record) => (stored.get(record.key)?.observedAt ?? observedAt) <= observedAt)
  if (outdated.length === 0) return 0
  const rows = await tx.query<{ order_channel_id: string }>(
    writeChannels,
    sellerId,
    observedAt.toISOString(),
    jsonArray(outdated.map(rowText)),
  )
  const written = new Set(rows.map((row) => row.order_channel_id))
  for (const { key: orderChannelId, value } of outdated) {
    if (!written.has(orderChannelId)) continue
    const row = stored.get(orderChannelId)
    const after = stateOf(value)
    if (row === undefined) tx.tell({ sellerId, type: 'sales_channel.added', data: { orderChannelId, ...after } })
    else tx.tell({ sellerId, type: 'sales_channel.changed', data: { orderChannelId, before: stateOf(row), after } })
  }
  return rows.length
}

/** Keys of the channels that are stored as being there, but are not among these. */
export const findGoneSalesChannels = async (
  sql: SqlRunner,
  sellerId: string,
  keys: ReadonlySet<string>,
): Promise<readonly string[]> => {
  const rows = await sql.query<{ order_channel_id: string }>(
    `SELECT order_channel_id FROM warehouse.sales_channels
     WHERE seller_id = $1 AND missing_since IS NULL AND NOT order_channel_id = ANY($2::text[]) ORDER BY order_channel_id`,
    sellerId,
    [...keys],
  )
  return rows.map((row) => row.order_channel_id)
}

/** Notes channels that the marketplace lists no more. */
export const noteMissingSalesChannels = async (
  tx: Transaction,
  sellerId: string,
  observedAt: Date,
  keys: readonly string[],
): Promise<number> => {
  if (keys.length === 0) return 0
  const rows = await tx.query<{ order_channel_id: string }>(
    `UPDATE warehouse.sales_channels SET missing_since = $3::timestamptz
     WHERE (seller_id, order_channel_id) IN (
       SELECT seller_id, order_channel_id FROM warehouse.sales_channels
       WHERE seller_id = $1 AND order_channel_id = ANY($2::text[]) AND missing_since IS NULL AND observed_at <= $3::timestamptz
       ORDER BY order_channel_id FOR UPDATE)
     RETURNING order_channel_id`,
    sellerId,
    keys,
    observedAt.toISOString(),
  )
  for (const { order_channel_id: orderChannelId } of rows) {
    tx.tell({ sellerId, type: 'sales_channel.missing', data: { orderChannelId } })
  }
  return rows.length
}
