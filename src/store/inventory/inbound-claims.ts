import type { ClaimWindows } from '../../domain/inventory/claim-states.ts'
import type { SqlRunner } from '../db/database.ts'
import { selectLastUnitPrices } from '../orders/unit-price.ts'

// Units are missing again, or the shipment was delivered later than known before, or the window was made longer.
const opensAgain = `(c.state = 'withdrawn' OR c.state = 'expired' AND excluded.deadline > now())`

const claimQuery = `
  WITH shipment AS MATERIALIZED (
    SELECT seller_id, shipment_id, coalesce(min(delivered_at), min(first_received_at)) AS delivered_at
    FROM warehouse.inbound_shipment_lines
    WHERE (seller_id, shipment_id) IN (
      SELECT seller_id, shipment_id FROM warehouse.inbound_shipment_lines WHERE seller_id = ANY ($1::text[]) AND difference < 0
    )
    GROUP BY seller_id, shipment_id
  ), missing AS MATERIALIZED (
    SELECT l.seller_id, l.shipment_id, l.sku, -l.difference AS units, (date_trunc('month', s.delivered_at AT TIME ZONE $2::text))::date AS month,
      s.delivered_at + make_interval(secs => $5::float8 / 1000) AS deadline
    FROM warehouse.inbound_shipment_lines l JOIN shipment s USING (seller_id, shipment_id)
    WHERE l.difference < 0 AND l.state <> 'unknown-sku' AND l.log_read_up_to >= s.delivered_at + make_interval(secs => $4::float8 / 1000)
  ), withdrawn AS (
    UPDATE warehouse.claims c SET units = 0, value = CASE WHEN c.value IS NOT NULL THEN 0 END, changed_at = now(),
      state = CASE WHEN c.state IN ('open', 'expired') THEN 'withdrawn' ELSE c.state END,
      state_by = CASE WHEN c.state IN ('open', 'expired') THEN 'report' ELSE c.state_by END,
      state_changed_at = CASE WHEN c.state IN ('open', 'expired') THEN now() ELSE c.state_changed_at END
    WHERE c.seller_id = ANY ($1::text[]) AND c.kind = 'inbound' AND c.units <> 0
      AND NOT EXISTS (SELECT FROM missing m WHERE m.seller_id = c.seller_id AND m.shipment_id = c.shipment_id AND m.sku = c.sku)
    RETURNING 1
  ), unpriced AS MATERIALIZED (
    SELECT DISTINCT m.seller_id, m.sku FROM missing m
    WHERE NOT EXISTS (SELECT FROM warehouse.claims c WHERE c.seller_id = m.seller_id AND c.shipment_id = m.shipment_id AND c.sku = m.sku
      AND c.unit_price IS NOT NULL)
  ), price AS MATERIALIZED (
    ${selectLastUnitPrices('unpriced', '$3')}
  ), claimed AS (
    INSERT INTO warehouse.claims AS c (seller_id, sku, month, kind, shipment_id, units, certainty, unit_price, value, currency, deadline)
    SELECT m.seller_id, m.sku, m.month, 'inbound', m.shipment_id, m.units, 'compared', round(p.amount / p.units, 4),
      round(m.units * p.amount / p.units, 2), p.currency, m.deadline
    FROM missing m LEFT JOIN price p ON p.seller_id = m.seller_id AND p.sku = m.sku ORDER BY m.seller_id, m.shipment_id, m.sku
    ON CONFLICT (seller_id, shipment_id, sku) WHERE shipment_id IS NOT NULL DO UPDATE
    SET units = excluded.units, month = excluded.month, unit_price = coalesce(c.unit_price, excluded.unit_price),
      value = coalesce(round(excluded.units * c.unit_price, 2), excluded.value), currency = coalesce(c.currency, excluded.currency),
      deadline = CASE WHEN c.state IN ('open', 'withdrawn', 'expired') THEN excluded.deadline ELSE c.deadline END, changed_at = now(),
      state = CASE WHEN ${opensAgain} THEN 'open' ELSE c.state END,
      state_by = CASE WHEN ${opensAgain} THEN 'report' ELSE c.state_by END,
      state_changed_at = CASE WHEN ${opensAgain} THEN now() ELSE c.state_changed_at END
    WHERE (c.units, c.month) IS DISTINCT FROM (excluded.units, excluded.month) OR (c.unit_price IS NULL AND excluded.unit_price IS NOT NULL)
      OR (c.state IN ('open', 'withdrawn', 'expired') AND c.deadline IS DISTINCT FROM excluded.deadline)
    RETURNING 1
  )
  SELECT ((SELECT count(*) FROM withdrawn) + (SELECT count(*) FROM claimed))::int AS changed`

/**
 * Keeps the claims for units of inbound shipments that were not received: they begin when the log is read up to the first day on which they can be
 * disputed, counted from the delivery, or if that is not stated from the first receipt. Returns the number of changed claims.
 */
export const reviewInboundClaims = async (
  sql: SqlRunner,
  { inboundFromMs, inboundMs }: Pick<ClaimWindows, 'inboundFromMs' | 'inboundMs'>,
): Promise<number> => {
  const sellers = await sql.query<{ sellerId: string }>(
    `SELECT seller_id AS "sellerId" FROM warehouse.inbound_shipment_lines WHERE difference < 0
     UNION SELECT seller_id FROM warehouse.claims WHERE kind = 'inbound' AND units <> 0`,
  )
  const byVocabulary = Map.groupBy(sellers, ({ sellerId }) => {
    const { calendar, productCharge } = sql.findVocabulary(sellerId)
    return JSON.stringify([calendar.zone, productCharge])
  })
  let changed = 0
  for (const ofVocabulary of byVocabulary.values()) {
    const ids = ofVocabulary.map(({ sellerId }) => sellerId)
    const [first = ''] = ids
    const { calendar, productCharge } = sql.findVocabulary(first)
    const [row] = await sql.query<{ changed: number }>(claimQuery, ids, calendar.zone, productCharge, inboundFromMs, inboundMs)
    changed += row?.changed ?? 0
  }
  return changed
}
