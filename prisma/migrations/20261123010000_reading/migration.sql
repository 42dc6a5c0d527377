-- What could not be read is passed over and kept in view: a stretch of a list whose pages never come, an order that is never answered for.
ALTER TABLE tallyman.quarantined_records
  DROP CONSTRAINT quarantined_records_state_check,
  ADD CONSTRAINT quarantined_records_state_check CHECK (state IN ('open', 'replayed', 'superseded', 'dismissed')),
  ADD COLUMN stream text,
  ADD COLUMN skipped jsonb,
  ADD COLUMN retry_at timestamptz(3),
  ADD COLUMN dismissed_by text,
  ADD COLUMN dismissed_reason text;
COMMENT ON COLUMN tallyman.quarantined_records.stream IS 'Which way of reading its resource brought it last.';
COMMENT ON COLUMN tallyman.quarantined_records.skipped IS 'Not a record but what was passed over because its pages never come: the window, as the stream asks for it. Null for records.';
COMMENT ON COLUMN tallyman.quarantined_records.retry_at IS 'When what was passed over is asked for again; null where nothing is.';
CREATE INDEX quarantined_records_keyless ON tallyman.quarantined_records (seller_id, resource) WHERE state = 'open' AND record_key IS NULL;

-- Orders that something else names, while no list has shown them.
CREATE TABLE tallyman.named_orders (
  seller_id         text           NOT NULL,
  purchase_order_id text           NOT NULL,
  asked_at          timestamptz(3) NOT NULL,
  ask_again_at      timestamptz(3) NOT NULL,
  asks              integer        NOT NULL CHECK (asks > 0),
  answer            text           NOT NULL,
  PRIMARY KEY (seller_id, purchase_order_id)
);
COMMENT ON TABLE tallyman.named_orders IS 'Orders that a return, the inventory log or an event names, that were not stored and have been asked for by their id.';
COMMENT ON COLUMN tallyman.named_orders.answer IS 'stored, none (the marketplace has no such order), or why it could not be read.';

-- Units of a line that its statuses account for beyond what was ordered: the marketplace contradicts itself.
ALTER TABLE warehouse.order_lines ADD COLUMN excess integer NOT NULL GENERATED ALWAYS AS (greatest(shipped + cancelled - ordered, 0)) STORED;
COMMENT ON COLUMN warehouse.order_lines.excess IS 'Units shipped and cancelled beyond those ordered; 0 unless the marketplace contradicts itself.';
CREATE INDEX order_lines_excess ON warehouse.order_lines (seller_id, purchase_order_id) WHERE excess > 0;
