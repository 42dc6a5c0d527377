-- A difference that depends on entries of the log that are newer than the report: the report is read again before the units are claimed.
ALTER TABLE warehouse.inventory_discrepancies
  ADD COLUMN log_late_units bigint NOT NULL DEFAULT 0,
  ADD COLUMN log_late_at timestamptz(3);
COMMENT ON COLUMN warehouse.inventory_discrepancies.log_late_units IS 'What entries of the kind that were read after the report was made add to the stock by the log; negative when they remove units.';
COMMENT ON COLUMN warehouse.inventory_discrepancies.log_late_at IS 'When the newest of these entries was read, on the clock of the marketplace; null: there are none.';
COMMENT ON COLUMN tallyman.claim_rows.uncertain_reasons IS 'The uncertain units by reason: log-copy, older-report, cut-off, other-month, no-row or incomplete-month.';
CREATE INDEX inventory_discrepancies_late ON warehouse.inventory_discrepancies (seller_id, month) WHERE state = 'open' AND log_late_at IS NOT NULL;

ALTER TABLE tallyman.inventory_skus ADD COLUMN log_known_at timestamptz(3);
COMMENT ON COLUMN tallyman.inventory_skus.log_known_at IS 'When the log had been read once to its end: an entry that is read later was reported late; null: not yet.';
-- What is known of these logs is the newest reading.
UPDATE tallyman.inventory_skus SET log_known_at = log_read_at WHERE log_read_up_to IS NOT NULL;
