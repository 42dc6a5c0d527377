-- A list that is read for the first time is one change, and not one for each of its records.
ALTER TABLE tallyman.sync_states ADD COLUMN loaded_at timestamptz(3);
COMMENT ON COLUMN tallyman.sync_states.loaded_at IS
  'When a list that is always read completely was read completely for the first time. Null: not yet, and its records are not told one by one.';
UPDATE tallyman.sync_states SET loaded_at = last_success_at;
