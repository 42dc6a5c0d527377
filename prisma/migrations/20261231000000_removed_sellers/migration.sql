-- A seller that is in nobody's settings any more, and that has a past, is hidden: its past stays readable.
ALTER TABLE tallyman.sellers
  ADD COLUMN removed_at timestamptz(3),
  ADD COLUMN removed_by text;
COMMENT ON COLUMN tallyman.sellers.removed_at IS 'When an operator removed it; null: nobody has, or it has been loaded again since.';
COMMENT ON COLUMN tallyman.sellers.removed_by IS 'Who removed it.';
