-- The bounds of the SQL inbox, each in the name of its constraint: an ERP whose row is refused reads there what is taken. They are those of
-- src/domain/event-bounds.ts. Only while an event waits, and not for rows that are stored already, which must be free to end.
--
-- `data` is measured as text, since that is what is read: a number such as 1e131071 takes a dozen bytes as jsonb and 131,072 as text, so a
-- small row could be larger than Postgres can write out at all.
ALTER TABLE tallyman.erp_event
  DROP CONSTRAINT erp_event_source_fits,
  DROP CONSTRAINT erp_event_id_fits,
  DROP CONSTRAINT erp_event_type_fits,
  DROP CONSTRAINT erp_event_data_fits,
  ADD CONSTRAINT erp_event_source_takes_1_to_1000_bytes
    CHECK (status <> 'received' OR octet_length(source) BETWEEN 1 AND 1000) NOT VALID,
  ADD CONSTRAINT erp_event_id_takes_1_to_1000_bytes
    CHECK (status <> 'received' OR octet_length(id) BETWEEN 1 AND 1000) NOT VALID,
  ADD CONSTRAINT erp_event_source_and_id_are_not_dots
    CHECK (status <> 'received' OR (source NOT IN ('.', '..') AND id NOT IN ('.', '..'))) NOT VALID,
  ADD CONSTRAINT erp_event_type_takes_1_to_256_characters
    CHECK (status <> 'received' OR char_length(type) BETWEEN 1 AND 256) NOT VALID,
  ADD CONSTRAINT erp_event_data_takes_4194304_bytes_as_text
    CHECK (status <> 'received' OR octet_length(data::text) <= 4194304) NOT VALID;
