-- A row as JSON does not keep the order of its columns, and the evidence of a claim shows the row as it came.
ALTER TABLE warehouse.reconciliation_reports ADD COLUMN headers text[] NOT NULL DEFAULT '{}';
COMMENT ON COLUMN warehouse.reconciliation_reports.headers IS 'Headers of the columns of the file in their order; empty: not imported, or imported by a version that did not keep them.';
