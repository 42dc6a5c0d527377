-- Differences of SKUs without a row, entries that the log has taken back, what reasons mean, and what each SKU brings to a claim.

ALTER TABLE warehouse.inventory_discrepancies DROP CONSTRAINT inventory_discrepancies_kind_check;
ALTER TABLE warehouse.inventory_discrepancies ADD CONSTRAINT inventory_discrepancies_kind_check
  CHECK (kind IN ('balance', 'carry-over', 'row', 'sold', 'returned', 'lost', 'found', 'damaged', 'other'));
COMMENT ON COLUMN warehouse.inventory_discrepancies.report_units IS 'What the report states: ending quantity (balance), beginning quantity (carry-over), none (row), or units of the kind; none where it has no row of the SKU.';
COMMENT ON COLUMN warehouse.inventory_discrepancies.expected_units IS 'What it should be: beginning and movements (balance), ending of the last month with a row and what the log knows since (carry-over), ending of the row that is gone (row), or units of the kind by the log.';
COMMENT ON COLUMN warehouse.inventory_discrepancies.resolution IS 'agrees: both sides tell the same again; withdrawn: the report no longer states it, and the SKU does not move.';

ALTER TABLE warehouse.inventory_log_entries ADD COLUMN missing_since timestamptz(3);
COMMENT ON COLUMN warehouse.inventory_log_entries.missing_since IS 'Since then the marketplace''s log is without this entry, which counts no more; null while it has it.';

-- The lists page by id; most of them ask for what is open, or for one SKU.
CREATE INDEX inventory_discrepancies_open_by_id ON warehouse.inventory_discrepancies (id) WHERE state = 'open';
CREATE INDEX inventory_discrepancies_open_by_month ON warehouse.inventory_discrepancies (month, id) WHERE state = 'open';
CREATE INDEX inventory_discrepancies_by_seller ON warehouse.inventory_discrepancies (seller_id, id);

-- What reasons of log entries mean to a seller. Written with the settings, and when an entry with an unknown reason comes for the first time.
CREATE TABLE tallyman.log_reasons (
  seller_id     text           NOT NULL,
  reason        text           NOT NULL,
  kind          text           CHECK (kind IN ('sold', 'returned', 'lost', 'found', 'damaged', 'other')),
  first_seen_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (seller_id, reason)
);
COMMENT ON COLUMN tallyman.log_reasons.reason IS 'Words of a code or a description in small letters, one space between them.';
COMMENT ON COLUMN tallyman.log_reasons.kind IS 'As the settings say; null: an entry came with it that nobody has named a kind for.';

-- What one SKU brings to the claim of a month, kept up to date with its differences.
CREATE TABLE tallyman.claim_rows (
  seller_id    text    NOT NULL,
  month        date    NOT NULL,
  sku          text    NOT NULL,
  listed       boolean NOT NULL,
  compared     boolean NOT NULL,
  lost         bigint  NOT NULL,
  damaged      bigint  NOT NULL,
  found        bigint  NOT NULL,
  unexplained  bigint  NOT NULL,
  uncertain    bigint  NOT NULL,
  price_amount numeric,
  price_units  integer,
  currency     text,
  PRIMARY KEY (seller_id, month, sku)
);
CREATE INDEX claim_rows_by_sku ON tallyman.claim_rows (seller_id, sku);
COMMENT ON TABLE tallyman.claim_rows IS 'What each SKU brings to the claim of a month; GET /v1/claims adds it up.';
COMMENT ON COLUMN tallyman.claim_rows.compared IS 'The report was compared with the inventory log.';
COMMENT ON COLUMN tallyman.claim_rows.uncertain IS 'Units that may be gone: the log may hold a copy, another month makes them good, or the report is without a row.';
COMMENT ON COLUMN tallyman.claim_rows.price_amount IS 'So many units (price_units) cost that much when a price became known; null before.';

INSERT INTO tallyman.claim_rows (seller_id, month, sku, listed, compared, lost, damaged, found, unexplained, uncertain)
SELECT seller_id, month, sku, true, false, abs(lost), abs(damaged), abs(found), 0, 0 FROM warehouse.reconciliation_rows WHERE missing_since IS NULL;
