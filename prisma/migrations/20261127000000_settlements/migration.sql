-- Rows of settlement reports: movements of money between marketplace and seller.
CREATE TABLE warehouse.settlement_lines (
  seller_id           text           NOT NULL,
  line_key            text           NOT NULL,
  report_date         date           NOT NULL,
  row_number          integer        NOT NULL,
  transaction_type    text           NOT NULL,
  description         text,
  reason              text,
  transaction_key     text,
  posted_on           date,
  period_start        date,
  period_end          date,
  amount              numeric,
  amount_type         text,
  total_payable       numeric,
  currency            text,
  quantity            integer,
  purchase_order_id   text,
  purchase_order_line text,
  customer_order_id   text,
  customer_order_line text,
  sku                 text,
  gtin                text,
  product_name        text,
  fulfillment_type    text,
  shipping_method     text,
  contract_category   text,
  product_type        text,
  product_tax_code    text,
  missing_since       timestamptz(3),
  raw_hash            bytea          NOT NULL,
  raw                 jsonb          NOT NULL,
  observed_at         timestamptz(3) NOT NULL,
  first_seen_at       timestamptz(3) NOT NULL,
  changed_at          timestamptz(3) NOT NULL,
  PRIMARY KEY (seller_id, line_key)
);
CREATE INDEX settlement_lines_by_row ON warehouse.settlement_lines (seller_id, report_date, row_number);
CREATE INDEX settlement_lines_by_order ON warehouse.settlement_lines (seller_id, purchase_order_id);
COMMENT ON COLUMN warehouse.settlement_lines.line_key IS 'Report and row, as 2026-11-20/17.';
COMMENT ON COLUMN warehouse.settlement_lines.report_date IS 'Day that names the report.';
COMMENT ON COLUMN warehouse.settlement_lines.row_number IS 'Position in the report, from 1 on: nothing else of a row is promised to be unique.';
COMMENT ON COLUMN warehouse.settlement_lines.amount IS 'What the row moves; negative: to the marketplace.';
COMMENT ON COLUMN warehouse.settlement_lines.total_payable IS 'Of the summary: what the report pays out.';
COMMENT ON COLUMN warehouse.settlement_lines.currency IS 'As the row names it, otherwise as the report does.';
COMMENT ON COLUMN warehouse.settlement_lines.missing_since IS 'Since then the report has no such row; null while it does.';
COMMENT ON COLUMN warehouse.settlement_lines.raw IS 'The row without the place that it was shipped to.';
COMMENT ON COLUMN warehouse.settlement_lines.observed_at IS 'On the marketplace''s clock, of the answer that brought this version.';
