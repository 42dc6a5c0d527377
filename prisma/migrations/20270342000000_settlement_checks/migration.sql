-- Orders that are stored after their payment was due are searched for too.
ALTER TABLE tallyman.settlement_periods ADD COLUMN checked_at timestamptz(3) NOT NULL DEFAULT '-infinity';
COMMENT ON COLUMN tallyman.settlement_periods.checked_at IS 'When unpaid units were last searched for: those that were stored since are searched again.';
