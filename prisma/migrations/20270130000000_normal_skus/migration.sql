-- SKUs are stored and compared in one form: without outer white space, Unicode NFC. Two spellings of one SKU are one SKU from now on.
CREATE FUNCTION pg_temp.normal_sku(value text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT normalize(btrim(value, E'\t\n\u000B\f\r \u00A0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200A\u2028\u2029\u202F\u205F\u3000\uFEFF'), NFC)
$$;

UPDATE warehouse.order_lines SET sku = nullif(pg_temp.normal_sku(sku), '') WHERE sku <> pg_temp.normal_sku(sku);
UPDATE warehouse.return_lines SET sku = nullif(pg_temp.normal_sku(sku), '') WHERE sku <> pg_temp.normal_sku(sku);
UPDATE warehouse.settlement_lines SET sku = nullif(pg_temp.normal_sku(sku), '') WHERE sku <> pg_temp.normal_sku(sku);

-- Requests to the marketplace take its own spelling. The log of such a SKU is read anew, from its beginning.
ALTER TABLE tallyman.inventory_skus ADD COLUMN marketplace_sku text;
COMMENT ON COLUMN tallyman.inventory_skus.marketplace_sku IS 'As the marketplace spells it, for requests; null: as sku.';
INSERT INTO tallyman.inventory_skus AS s (seller_id, sku, marketplace_sku, gtin, product_name, source, log_moved_at)
SELECT DISTINCT ON (seller_id, normal) seller_id, normal, sku, gtin, product_name, source, log_moved_at
FROM (SELECT *, pg_temp.normal_sku(sku) AS normal FROM tallyman.inventory_skus) other WHERE sku <> normal AND normal <> ''
ORDER BY seller_id, normal, sku
ON CONFLICT (seller_id, sku) DO UPDATE SET marketplace_sku = excluded.marketplace_sku, gtin = coalesce(s.gtin, excluded.gtin),
  log_read_up_to = NULL, log_pass = NULL, log_due_at = NULL, log_moved_at = greatest(s.log_moved_at, excluded.log_moved_at);
DELETE FROM tallyman.inventory_skus WHERE sku <> pg_temp.normal_sku(sku);

-- Keyed rows take the normal form where no row has it yet.
UPDATE warehouse.inventory_log_entries t SET sku = c.normal, changed_at = now() FROM (
  SELECT DISTINCT ON (seller_id, normal, entry_id) seller_id, sku, entry_id, normal
  FROM (SELECT seller_id, sku, entry_id, pg_temp.normal_sku(sku) AS normal FROM warehouse.inventory_log_entries) s
  WHERE sku <> normal AND NOT EXISTS (
    SELECT 1 FROM warehouse.inventory_log_entries o WHERE o.seller_id = s.seller_id AND o.sku = s.normal AND o.entry_id = s.entry_id)
  ORDER BY seller_id, normal, entry_id, sku
) c WHERE t.seller_id = c.seller_id AND t.sku = c.sku AND t.entry_id = c.entry_id;
-- What is left is the same movement under a second spelling.
DELETE FROM warehouse.inventory_log_entries WHERE sku <> pg_temp.normal_sku(sku);

UPDATE warehouse.replenishment_recommendations t SET sku = c.normal, changed_at = now() FROM (
  SELECT DISTINCT ON (seller_id, normal) seller_id, sku, normal
  FROM (SELECT seller_id, sku, pg_temp.normal_sku(sku) AS normal FROM warehouse.replenishment_recommendations) s
  WHERE sku <> normal AND NOT EXISTS (SELECT 1 FROM warehouse.replenishment_recommendations o WHERE o.seller_id = s.seller_id AND o.sku = s.normal)
  ORDER BY seller_id, normal, sku
) c WHERE t.seller_id = c.seller_id AND t.sku = c.sku;
UPDATE warehouse.replenishment_recommendations SET valid_to = greatest(valid_from, now()), changed_at = now()
WHERE valid_to IS NULL AND sku <> pg_temp.normal_sku(sku);

UPDATE warehouse.reconciliation_rows t SET sku = c.normal, changed_at = now() FROM (
  SELECT DISTINCT ON (seller_id, month, normal) seller_id, month, sku, normal
  FROM (SELECT seller_id, month, sku, pg_temp.normal_sku(sku) AS normal FROM warehouse.reconciliation_rows) s
  WHERE sku <> normal AND NOT EXISTS (
    SELECT 1 FROM warehouse.reconciliation_rows o WHERE o.seller_id = s.seller_id AND o.month = s.month AND o.sku = s.normal)
  ORDER BY seller_id, month, normal, sku
) c WHERE t.seller_id = c.seller_id AND t.month = c.month AND t.sku = c.sku;
UPDATE tallyman.claim_rows t SET sku = c.normal FROM (
  SELECT DISTINCT ON (seller_id, month, normal) seller_id, month, sku, normal
  FROM (SELECT seller_id, month, sku, pg_temp.normal_sku(sku) AS normal FROM tallyman.claim_rows) s
  WHERE sku <> normal AND NOT EXISTS (SELECT 1 FROM tallyman.claim_rows o WHERE o.seller_id = s.seller_id AND o.month = s.month AND o.sku = s.normal)
  ORDER BY seller_id, month, normal, sku
) c WHERE t.seller_id = c.seller_id AND t.month = c.month AND t.sku = c.sku;
UPDATE warehouse.inventory_discrepancies t SET sku = c.normal, changed_at = now() FROM (
  SELECT DISTINCT ON (seller_id, normal) seller_id, sku, normal
  FROM (SELECT seller_id, sku, pg_temp.normal_sku(sku) AS normal FROM warehouse.inventory_discrepancies) s
  WHERE sku <> normal AND NOT EXISTS (SELECT 1 FROM warehouse.inventory_discrepancies o WHERE o.seller_id = s.seller_id AND o.sku = s.normal)
  ORDER BY seller_id, normal, sku
) c WHERE t.seller_id = c.seller_id AND t.sku = c.sku;

COMMENT ON COLUMN warehouse.order_lines.sku IS 'In its normal form: no outer white space, Unicode NFC. raw has it as received.';
COMMENT ON COLUMN warehouse.return_lines.sku IS 'In its normal form; see order_lines.';
COMMENT ON COLUMN warehouse.settlement_lines.sku IS 'In its normal form; see order_lines.';
COMMENT ON COLUMN warehouse.inventory_log_entries.sku IS 'In its normal form; see order_lines.';
COMMENT ON COLUMN warehouse.replenishment_recommendations.sku IS 'In its normal form; see order_lines.';
COMMENT ON COLUMN warehouse.reconciliation_rows.sku IS 'In its normal form, see order_lines. The GTIN where the report names no SKU.';
