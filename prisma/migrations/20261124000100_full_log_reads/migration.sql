-- When the log of a SKU was last read over all of its reach, and when that is due again.
ALTER TABLE tallyman.inventory_skus ADD COLUMN log_full_at timestamptz(3), ADD COLUMN log_full_due_at timestamptz(3), ADD COLUMN stake numeric;
COMMENT ON COLUMN tallyman.inventory_skus.log_full_at IS 'On the database''s clock: when a reading of the log''s whole reach last began.';
COMMENT ON COLUMN tallyman.inventory_skus.log_full_due_at IS 'On the marketplace''s clock: when the next one is due; null while none was begun, so that the next reading is one.';
COMMENT ON COLUMN tallyman.inventory_skus.stake IS 'Units that the report says moved, at the last known price: of logs that were never read, the dearest come first.';

DROP INDEX tallyman.inventory_skus_by_turn;
CREATE INDEX inventory_skus_by_turn
  ON tallyman.inventory_skus (seller_id, log_due_at NULLS FIRST, log_read_up_to DESC NULLS LAST, stake DESC NULLS LAST, sku);
