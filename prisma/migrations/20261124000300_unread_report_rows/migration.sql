-- What the newest report of a month does not say in a way that can be read: nobody is judged by it.
ALTER TABLE warehouse.reconciliation_reports ADD COLUMN nameless_count integer, ADD COLUMN footer_count integer;
COMMENT ON COLUMN warehouse.reconciliation_reports.nameless_count IS 'Rows that do not say what they are about: what the report seems to be without is not judged by it.';
COMMENT ON COLUMN warehouse.reconciliation_reports.footer_count IS 'Lines below the rows that are none: totals, and text.';

CREATE TABLE tallyman.unread_report_skus (
  seller_id text NOT NULL,
  month     date NOT NULL CHECK (month = date_trunc('month', month)),
  sku       text NOT NULL,
  PRIMARY KEY (seller_id, month, sku)
);
COMMENT ON TABLE tallyman.unread_report_skus IS 'SKUs whose row in the newest report of the month could not be read, or may be one that could not: the month is not reviewed for them until it can.';
