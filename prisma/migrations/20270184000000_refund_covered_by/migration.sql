-- The marketplace names who bears the refund of a returned line since 2025-09-24; until now it was in `raw` only.
ALTER TABLE warehouse.return_lines ADD COLUMN refund_covered_by text;
COMMENT ON COLUMN warehouse.return_lines.refund_covered_by IS 'Who bears the refund, as the marketplace names it; null where it does not.';
UPDATE warehouse.return_lines SET refund_covered_by = nullif(raw ->> 'refundCoveredBy', '')
WHERE jsonb_typeof(raw -> 'refundCoveredBy') = 'string';
