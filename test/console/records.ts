import { type ConsoleStage, sellerId } from './support.ts'

/** The SKU of the inventory. */
export const sku = 'PAN-28'
const gtin = '00012345678905'
/** The campaign. */
export const campaignId = 'c-4711'

const reports = `
  WITH report AS (
    INSERT INTO warehouse.reconciliation_reports (seller_id, month, state, file_name, generated_at, covered_until, retrieved_at, imported_at,
      byte_count, row_count, correlation_id)
    SELECT $1, month, 'imported', 'report.csv', month + interval '1 month', month + interval '1 month', now(), now(), 1, 1, 'test'
    FROM (VALUES ('2026-02-01'::date), ('2026-03-01')) AS m(month) RETURNING id, month
  )
  INSERT INTO warehouse.reconciliation_rows (seller_id, month, sku, gtin, beginning_quantity, ending_quantity, sold, returned, lost, found,
    damaged, other_adjustments, report_id, raw_hash, raw, observed_at, first_seen_at, changed_at)
  SELECT $1, r.month, $2, $3, b, e, s, 1, l, 0, 0, 0, r.id, '\\x00', '{}', now(), now(), now()
  FROM report r JOIN (VALUES ('2026-02-01'::date, 30, 20, 11, 0), ('2026-03-01', 20, 12, 6, 2)) AS t(month, b, e, s, l) USING (month)`
const discrepancy = `
  INSERT INTO warehouse.inventory_discrepancies (seller_id, sku, gtin, month, kind, report_units, expected_units, log_entry_ids, log_entries,
    log_verdict, log_certainty, earliest_day, unit_price, value, currency)
  VALUES ($1, $2, $3, '2026-03-01', 'sold', 6, 9, '{E-1}', 1, 'extra', 'possible', '2026-03-05', 10, 30, 'USD')`
const logEntry = `
  INSERT INTO warehouse.inventory_log_entries (seller_id, sku, entry_id, fc_name, changed_units, transaction_time, transaction_location,
    transaction_reason_code, transaction_reason_description, transaction_type, shipment_id, raw_hash, raw, observed_at, first_seen_at, changed_at)
  VALUES ($1, $2, 'E-1', 'KY1', -3, '2026-03-05T12:00:00Z', 'Inventory', 'SIP', 'Shipped to Customer', 'Ship', 'SHIP-77', '\\x00', '{}',
    now(), now(), now())`
const claim = `
  INSERT INTO tallyman.claim_rows (seller_id, month, sku, listed, compared, complete, lost, damaged, found, unexplained, uncertain, net_lost,
    price_amount, price_units, currency)
  VALUES ($1, '2026-03-01', $2, true, true, true, 2, 0, 0, 0, 3, 2, 10, 1, 'USD')`
const stock = `
  INSERT INTO warehouse.stock_on_hand (seller_id, sku, gtin, item_name, stock_status, available_units, reserved_units, on_hand_units, raw_hash, raw,
    observed_at, first_seen_at, changed_at)
  VALUES ($1, $2, $3, 'Frying pan', 'In-stock', 10, 2, 12, '\\x00', '{}', now(), now(), now())`
const stockDifference = `
  INSERT INTO warehouse.stock_differences (seller_id, sku, gtin, counted_units, balance_units, as_of, opening_units, opening_at, value, currency)
  VALUES ($1, $2, $3, 12, 15, '2026-04-02T10:00:00Z', 16, '2026-04-02T07:00:00Z', 30, 'USD')`
const campaign = `
  INSERT INTO warehouse.campaigns (seller_id, campaign_id, name, start_date, end_date, daily_budget, total_budget, status, raw_hash, raw,
    observed_at, first_seen_at, changed_at)
  VALUES ($1, $2, 'Spring pans', '2026-01-01', '2026-01-30', 100, 2000, 'BUDGET_EXHAUSTED', '\\x00', '{}', now(), now(), now())`
const statusChanges = `
  INSERT INTO warehouse.campaign_status_changes (seller_id, campaign_id, from_status, to_status, seen_at, legal, raw)
  VALUES ($1, $2, NULL, 'RUNNING', '2026-01-02T00:00:00Z', NULL, '{}'),
    ($1, $2, 'RUNNING', 'BUDGET_EXHAUSTED', '2026-01-20T00:00:00Z', true, '{}')`
const targets = `
  INSERT INTO warehouse.contextual_targets (seller_id, id, name, taxon_path, reach, reach_bands, is_disabled, raw_hash, raw, observed_at,
    first_seen_at, changed_at)
  VALUES ($1, 1, 'Pans', '{Home,Kitchen,Pans}', '{TIER_6}', '{HIGH}', false, '\\x00', '{}', now(), now(), now()),
    ($1, 2, 'Garden', '{Home,Garden}', '{TIER_1}', '{LOW}', true, '\\x00', '{}', now(), now(), now())`

/** A month of the inventory with a difference, its entry of the log and a claim; stock on hand that differs from the log; a campaign over time; targets. */
export const addRecords = async ({ client }: ConsoleStage): Promise<void> => {
  await client.query(logEntry, [sellerId, sku])
  for (const sql of [reports, discrepancy, stock, stockDifference]) await client.query(sql, [sellerId, sku, gtin])
  await client.query(claim, [sellerId, sku])
  for (const sql of [campaign, statusChanges]) await client.query(sql, [sellerId, campaignId])
  await client.query(targets, [sellerId])
}
