-- Whether a report names its rows by GTIN alone: then a SKU whose GTIN is not known, or is that of several, may have a row in it.
ALTER TABLE warehouse.reconciliation_reports ADD COLUMN by_gtin boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN warehouse.reconciliation_reports.by_gtin IS 'It names its rows by GTIN alone.';
UPDATE warehouse.reconciliation_reports p SET by_gtin = true
  WHERE EXISTS (SELECT 1 FROM warehouse.reconciliation_rows r WHERE r.report_id = p.id AND r.sku = r.gtin);
