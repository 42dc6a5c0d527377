-- Which limits the waits of a seller were named by: a start with other ones makes them due.
ALTER TABLE tallyman.sellers
  ADD COLUMN limits text,
  ADD COLUMN limits_since timestamptz(3);
COMMENT ON COLUMN tallyman.sellers.limits IS 'A digest of the rate limits that hold for it; null: none have been noted.';
COMMENT ON COLUMN tallyman.sellers.limits_since IS 'When these limits were noted first.';
