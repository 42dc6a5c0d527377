-- The inventory log: every movement of stock of a SKU at the fulfillment service, and which SKUs are asked for.

CREATE TABLE warehouse.inventory_log_entries (
  seller_id                      text           NOT NULL,
  sku                            text           NOT NULL,
  entry_id                       text           NOT NULL,
  gtin                           text,
  fc_name                        text,
  changed_units                  integer        NOT NULL,
  transaction_time               timestamptz(3) NOT NULL,
  transaction_location           text,
  transaction_reason_code        text,
  transaction_reason_description text,
  transaction_type               text,
  shipment_id                    text,
  raw_hash                       bytea          NOT NULL,
  raw                            jsonb          NOT NULL,
  observed_at                    timestamptz(3) NOT NULL,
  first_seen_at                  timestamptz(3) NOT NULL,
  changed_at                     timestamptz(3) NOT NULL,
  PRIMARY KEY (seller_id, sku, entry_id)
);
CREATE INDEX inventory_log_entries_by_time ON warehouse.inventory_log_entries (seller_id, sku, transaction_time);
COMMENT ON COLUMN warehouse.inventory_log_entries.changed_units IS 'What the movement added; negative when units left.';
COMMENT ON COLUMN warehouse.inventory_log_entries.fc_name IS 'Name of the fulfillment center.';
COMMENT ON COLUMN warehouse.inventory_log_entries.raw_hash IS 'Of the entry with the SKU and GTIN that its answer named.';
COMMENT ON COLUMN warehouse.inventory_log_entries.observed_at IS 'On the marketplace''s clock: an older observation never overwrites a newer one.';

-- The log of a SKU is due at once (null) when something is known to have moved, when it was never read, or while its past is being
-- read; otherwise at a time on the marketplace's clock. Every read moves that time, so a page has some room for new row versions.
CREATE TABLE tallyman.inventory_skus (
  seller_id      text           NOT NULL,
  sku            text           NOT NULL,
  gtin           text,
  product_name   text,
  source         text           NOT NULL,
  added_at       timestamptz(3) NOT NULL DEFAULT now(),
  log_read_up_to timestamptz(3),
  log_read_at    timestamptz(3),
  log_moved_at   timestamptz(3),
  log_due_at     timestamptz(3),
  log_pass       jsonb,
  log_fault      text,
  PRIMARY KEY (seller_id, sku)
) WITH (fillfactor = 85);
CREATE INDEX inventory_skus_by_turn ON tallyman.inventory_skus (seller_id, log_due_at NULLS FIRST, log_read_up_to DESC NULLS LAST, sku);
COMMENT ON COLUMN tallyman.inventory_skus.source IS 'Who named it first: settings, orders or report.';
COMMENT ON COLUMN tallyman.inventory_skus.product_name IS 'As the log named it last.';
COMMENT ON COLUMN tallyman.inventory_skus.log_read_up_to IS 'On the marketplace''s clock: every entry up to here is stored.';
COMMENT ON COLUMN tallyman.inventory_skus.log_read_at IS 'On the marketplace''s clock: when the log was last read.';
COMMENT ON COLUMN tallyman.inventory_skus.log_moved_at IS 'Newest sign of movement: the time of an entry, or when an order or the report told of one.';
COMMENT ON COLUMN tallyman.inventory_skus.log_pass IS 'A window of which only some pages are read yet, because the rate budget ended.';
COMMENT ON COLUMN tallyman.inventory_skus.log_fault IS 'Why the last try brought no log; null once one does.';

-- Up to which change the change feed has been searched for orders whose SKUs are asked for.
CREATE TABLE tallyman.inventory_order_marks (
  seller_id   text   NOT NULL PRIMARY KEY,
  changes_seq bigint NOT NULL
);

CREATE VIEW warehouse.inventory_log_freshness AS
  SELECT seller_id, sku, gtin, product_name, log_read_up_to AS read_up_to, log_read_at AS read_at, now() - log_read_up_to AS age, log_fault AS fault
  FROM tallyman.inventory_skus;
COMMENT ON VIEW warehouse.inventory_log_freshness IS 'How old the stored log of each SKU is; null while it was never read.';
