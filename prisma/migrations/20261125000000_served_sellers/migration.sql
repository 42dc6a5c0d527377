-- Which sellers are served, by whatever process: several processes with different sellers may share one database.
ALTER TABLE tallyman.sellers ADD COLUMN served_at timestamptz(3);
COMMENT ON COLUMN tallyman.sellers.served_at IS 'When a process last said that it serves this seller; null: none has.';
UPDATE tallyman.sellers SET served_at = now();
