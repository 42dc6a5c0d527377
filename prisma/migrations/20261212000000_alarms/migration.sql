-- Alarms tell how many things they are about, can be silenced, and are told in the change feed.
ALTER TABLE tallyman.alarms
  ADD COLUMN count integer,
  ADD COLUMN due_at timestamptz(3),
  ADD COLUMN silenced_until timestamptz(3),
  ADD COLUMN silenced_by text,
  ADD COLUMN silenced_reason text,
  ADD COLUMN resolved_by text,
  ADD COLUMN resolved_reason text,
  ADD COLUMN told smallint NOT NULL DEFAULT 0 CHECK (told BETWEEN 0 AND 2),
  ADD CHECK ((silenced_until IS NULL) = (silenced_by IS NULL)),
  ADD CHECK (resolved_by IS NULL OR resolved_at IS NOT NULL);
COMMENT ON COLUMN tallyman.alarms.count IS 'How many things it is about; null: the one that its subject names.';
COMMENT ON COLUMN tallyman.alarms.due_at IS 'The earliest of their deadlines; null: they have none.';
COMMENT ON COLUMN tallyman.alarms.silenced_until IS 'A person wants not to be reminded of it until then.';
COMMENT ON COLUMN tallyman.alarms.resolved_by IS 'Who has resolved it; null: it ended with its cause.';
COMMENT ON COLUMN tallyman.alarms.told IS 'What the change feed has of it: 0 nothing, 1 that it is open, 2 that it is resolved.';
-- What was raised before is not told afterwards.
UPDATE tallyman.alarms SET told = CASE WHEN resolved_at IS NULL THEN 1 ELSE 2 END;
CREATE INDEX alarms_untold ON tallyman.alarms (id) WHERE told < CASE WHEN resolved_at IS NULL THEN 1 ELSE 2 END;
CREATE INDEX alarms_silenced ON tallyman.alarms (seller_id, kind, subject, silenced_until) WHERE silenced_until IS NOT NULL;

-- A condition that ends and comes back stays silenced for as long as somebody wanted it.
CREATE FUNCTION tallyman.keep_silence() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  SELECT a.silenced_until, a.silenced_by, a.silenced_reason
    INTO NEW.silenced_until, NEW.silenced_by, NEW.silenced_reason
    FROM tallyman.alarms a
    WHERE a.seller_id = NEW.seller_id AND a.kind = NEW.kind AND a.subject = NEW.subject
      AND a.silenced_until > now() AND a.resolved_by IS NULL
    ORDER BY a.silenced_until DESC LIMIT 1;
  RETURN NEW;
END
$$;
CREATE TRIGGER keep_silence BEFORE INSERT ON tallyman.alarms FOR EACH ROW EXECUTE FUNCTION tallyman.keep_silence();

-- What is looked at every minute is read from an index that holds little else.
CREATE INDEX orders_open_to_ship ON warehouse.orders (seller_id, estimated_ship_date) INCLUDE (ship_node_type, missing_since) WHERE open;
CREATE INDEX order_lines_unacknowledged ON warehouse.order_lines (seller_id, purchase_order_id) WHERE acknowledged + cancelled < ordered;
CREATE INDEX quarantined_records_open_by_time ON tallyman.quarantined_records (first_seen_at) WHERE state = 'open';
