-- ERP events: one normal form of ids, bounds of what the SQL inbox takes, and when a waiting event is looked at again.

-- The normal form of an id within `data`, as events are read by the daemon too: text without what JavaScript calls white space at its
-- ends, or a whole number from 1 to 2^53 - 1; null: no id.
CREATE FUNCTION tallyman.normal_id(value jsonb) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE jsonb_typeof(value)
    WHEN 'string' THEN NULLIF(btrim(value #>> '{}', E'\t\n\u000B\f\r \u00A0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200A\u2028\u2029\u202F\u205F\u3000\uFEFF'), '')
    WHEN 'number' THEN CASE WHEN value::numeric BETWEEN 1 AND 9007199254740991 AND trunc(value::numeric) = value::numeric
      THEN trunc(value::numeric)::text END
  END
$$;
COMMENT ON FUNCTION tallyman.normal_id(jsonb) IS 'Id within the data of an ERP event, in the form in which it is compared.';

DROP INDEX tallyman.erp_event_received_by_order;
-- Every event that is accepted first looks for earlier ones of its order that still wait. Cut off, so that no row is too long for it.
CREATE INDEX erp_event_received_by_order ON tallyman.erp_event (left(tallyman.normal_id(data -> 'purchaseOrderId'), 255), sequence)
  WHERE status = 'received';

UPDATE tallyman.erp_event SET received_at = now()
  WHERE status = 'received' AND NOT received_at BETWEEN '2000-01-01T00:00:00Z' AND now() + interval '1 day';
UPDATE tallyman.erp_event SET sequence = nextval(pg_get_serial_sequence('tallyman.erp_event', 'sequence'))
  WHERE status = 'received' AND sequence <= 0;

-- What is wrong in these ways can neither be carried nor told: the ERP hears it from its own statement. Rows of before may break them, and
-- must be free to end: hence only while an event waits, and not for what is stored already.
ALTER TABLE tallyman.erp_event
  ADD COLUMN due_at timestamptz(3) NOT NULL DEFAULT now(),
  ADD COLUMN waits_for text,
  ADD CONSTRAINT erp_event_source_fits
    CHECK (status <> 'received' OR (octet_length(source) BETWEEN 1 AND 1000 AND source NOT IN ('.', '..'))) NOT VALID,
  ADD CONSTRAINT erp_event_id_fits
    CHECK (status <> 'received' OR (octet_length(id) BETWEEN 1 AND 1000 AND id NOT IN ('.', '..'))) NOT VALID,
  ADD CONSTRAINT erp_event_type_fits CHECK (status <> 'received' OR char_length(type) BETWEEN 1 AND 256) NOT VALID,
  ADD CONSTRAINT erp_event_data_fits CHECK (status <> 'received' OR pg_column_size(data) <= 16777216) NOT VALID,
  ADD CONSTRAINT erp_event_sequence_fits CHECK (status <> 'received' OR sequence > 0) NOT VALID,
  ADD CONSTRAINT erp_event_received_at_fits
    CHECK (status <> 'received' OR received_at BETWEEN '2000-01-01T00:00:00Z' AND now() + interval '1 day') NOT VALID;
COMMENT ON COLUMN tallyman.erp_event.due_at IS 'When a waiting event is looked at again.';
COMMENT ON COLUMN tallyman.erp_event.waits_for IS 'Why a waiting event could not be decided when it was looked at last.';

CREATE INDEX erp_event_received_due ON tallyman.erp_event (due_at, sequence) WHERE status = 'received';
CREATE INDEX erp_event_rejected ON tallyman.erp_event (sequence) WHERE status = 'rejected';
