-- What names an order that is not stored, since when, and what has become of it. Rows of an earlier version name no source.
ALTER TABLE tallyman.named_orders
  ALTER COLUMN asked_at DROP NOT NULL,
  ALTER COLUMN answer DROP NOT NULL,
  DROP CONSTRAINT named_orders_asks_check,
  ADD CONSTRAINT named_orders_asks_check CHECK (asks >= 0),
  ADD COLUMN source text CHECK (source IN ('returns', 'inventory-log', 'settlements', 'events', 'notifications')),
  ADD COLUMN named_on date NOT NULL DEFAULT (now() AT TIME ZONE 'UTC')::date,
  ADD COLUMN named_at timestamptz(3) NOT NULL DEFAULT now(),
  ADD COLUMN state text NOT NULL DEFAULT 'missing' CHECK (state IN ('missing', 'stored', 'explained'));
UPDATE tallyman.named_orders SET named_on = (asked_at AT TIME ZONE 'UTC')::date, named_at = asked_at,
  state = CASE answer WHEN 'stored' THEN 'stored' WHEN 'none' THEN 'explained' ELSE 'missing' END,
  answer = CASE answer WHEN 'none' THEN 'the marketplace does not know this order' ELSE answer END;
COMMENT ON TABLE tallyman.named_orders IS 'Orders that a return, the inventory log, a settlement report, an ERP event or a notification named while they were not stored. Each is requested by its id.';
COMMENT ON COLUMN tallyman.named_orders.source IS 'What named it first.';
COMMENT ON COLUMN tallyman.named_orders.named_on IS 'The day of the record that named it.';
COMMENT ON COLUMN tallyman.named_orders.named_at IS 'When that record was stored.';
COMMENT ON COLUMN tallyman.named_orders.state IS 'missing: requested until it is stored; stored; explained: the answer states why it is not.';
COMMENT ON COLUMN tallyman.named_orders.answer IS 'stored, none (the marketplace has no such order), or why it could not be read, or does not exist. Null: not requested yet.';
CREATE INDEX named_orders_due ON tallyman.named_orders (ask_again_at) WHERE state <> 'stored';
