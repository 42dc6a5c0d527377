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
const settlement = `
  INSERT INTO warehouse.settlement_lines (seller_id, line_key, report_date, row_number, transaction_type, description, amount, amount_type, currency,
    quantity, purchase_order_id, sku, movement, component, raw_hash, raw, observed_at, first_seen_at, changed_at)
  VALUES ($1, '2026-04-11/2', '2026-04-11', 2, 'Sale', 'Purchase', 18.50, 'Product Price', 'USD', 1, '4711', $2, 'sale', 'price', '\\x00', '{}', now(),
    now(), now())`
const settlementDifference = `
  INSERT INTO warehouse.settlement_differences (seller_id, kind, difference_key, purchase_order_id, line_number, sku, report_date, expected_amount,
    paid_amount, currency, line_keys)
  VALUES ($1, 'paid-less', 'x', '4711', '1', $2, '2026-04-11', 20, 18.50, 'USD', '{2026-04-11/2}')`
const inbound = `
  INSERT INTO warehouse.inbound_shipment_lines (seller_id, shipment_id, sku, sent_units, received_units, shipped_at, expected_by, state)
  VALUES ($1, '4711WFA', $2, 10, 0, '2026-03-01', '2026-03-31', 'unknown-sku')`
const reimbursement = `
  INSERT INTO warehouse.claim_payments (seller_id, line_key, problem, reimburses, sku, amount, currency, units, report_date)
  VALUES ($1, '2026-04-11/9', 'several-claims', 'lost', $2, 9.98, 'USD', 2, '2026-04-11')`
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

/**
 * A month of the inventory with a difference, its entry of the log and a claim; stock on hand that differs from the log; a settlement difference and a reimbursement; a campaign
 * over time; targets. */
export const addRecords = async ({ client }: ConsoleStage): Promise<void> => {
  await client.query(logEntry, [sellerId, sku])
  for (const sql of [reports, discrepancy, stock, stockDifference]) await client.query(sql, [sellerId, sku, gtin])
  for (const sql of [claim, settlement, settlementDifference, reimbursement, inbound]) await client.query(sql, [sellerId, sku])
  for (const sql of [campaign, statusChanges]) await client.query(sql, [sellerId, campaignId])
  await client.query(targets, [sellerId])
}
