-- A reading settles only those records without a key that it would have met.
ALTER TABLE tallyman.quarantined_records ADD COLUMN created_from timestamptz(3);
COMMENT ON COLUMN tallyman.quarantined_records.created_from IS 'Before this moment the record was not created, as the question says that brought it; null: not known.';
