-- Claims are net of copies in the log and of units that were found again in later months; uncertain units have their reason.
ALTER TABLE warehouse.inventory_discrepancies ADD COLUMN log_copied_units bigint NOT NULL DEFAULT 0;
COMMENT ON COLUMN warehouse.inventory_discrepancies.log_copied_units IS 'What entries of the kind that are identical to another one, except for their ids, add to the stock by the log; negative when they remove units.';
UPDATE warehouse.inventory_discrepancies
SET log_copied_units = CASE WHEN kind IN ('sold', 'lost', 'damaged') THEN report_units - expected_units ELSE expected_units - report_units END
WHERE state = 'open' AND log_certainty = 'likely';

ALTER TABLE tallyman.claim_rows
  ADD COLUMN complete boolean NOT NULL DEFAULT false,
  ADD COLUMN returned bigint NOT NULL DEFAULT 0,
  ADD COLUMN uncertain_reasons jsonb NOT NULL DEFAULT '{}',
  ADD COLUMN net_lost bigint NOT NULL DEFAULT 0,
  ADD COLUMN net_missing bigint NOT NULL DEFAULT 0,
  ADD COLUMN net_returned bigint NOT NULL DEFAULT 0;
COMMENT ON COLUMN tallyman.claim_rows.complete IS 'The report counts the whole month.';
COMMENT ON COLUMN tallyman.claim_rows.returned IS 'Those of the unexplained units that came back from customers by the log, and that the report does not count.';
COMMENT ON COLUMN tallyman.claim_rows.uncertain_reasons IS 'The uncertain units by reason: log-copy, cut-off, other-month, no-row or incomplete-month.';
COMMENT ON COLUMN tallyman.claim_rows.net_lost IS 'Lost units that were not found again in this month or a later one.';
COMMENT ON COLUMN tallyman.claim_rows.net_missing IS 'The same for unexplained units that are no returns.';
COMMENT ON COLUMN tallyman.claim_rows.net_returned IS 'The same for returned units.';
UPDATE tallyman.claim_rows c SET net_lost = greatest(0, lost - found), net_missing = unexplained,
  complete = c.month < date_trunc('month', now() AT TIME ZONE 'UTC')::date;
COMMENT ON COLUMN tallyman.claim_totals.net_units IS 'Lost, damaged and unexplained units, less those that were found again in this month or a later one.';

CREATE OR REPLACE FUNCTION tallyman.add_claims() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  changed CONSTANT text := CASE TG_OP
    WHEN 'INSERT' THEN 'SELECT 1 AS sign, * FROM new_rows'
    WHEN 'DELETE' THEN 'SELECT -1 AS sign, * FROM old_rows'
    ELSE 'SELECT 1 AS sign, * FROM new_rows UNION ALL SELECT -1 AS sign, * FROM old_rows' END;
BEGIN
  EXECUTE format($sql$
    INSERT INTO tallyman.claim_totals AS t
    SELECT seller_id, month, coalesce(currency, ''), sum(sign * listed::int), sum(sign * (listed AND compared)::int),
      sum(sign * lost), sum(sign * lost * price), sum(sign * damaged), sum(sign * damaged * price), sum(sign * found), sum(sign * found * price),
      sum(sign * unexplained), sum(sign * unexplained * price), sum(sign * uncertain), sum(sign * uncertain * price),
      sum(sign * net), sum(sign * net * price)
    FROM (
      SELECT *, coalesce(price_amount / price_units, 0) AS price, net_lost + damaged + net_missing + net_returned AS net FROM (%s) AS c
    ) AS c
    GROUP BY seller_id, month, coalesce(currency, '')
    ORDER BY 1, 2, 3
    ON CONFLICT (seller_id, month, currency) DO UPDATE
    SET skus = t.skus + excluded.skus, skus_compared = t.skus_compared + excluded.skus_compared,
      lost_units = t.lost_units + excluded.lost_units, lost_value = t.lost_value + excluded.lost_value,
      damaged_units = t.damaged_units + excluded.damaged_units, damaged_value = t.damaged_value + excluded.damaged_value,
      found_units = t.found_units + excluded.found_units, found_value = t.found_value + excluded.found_value,
      unexplained_units = t.unexplained_units + excluded.unexplained_units, unexplained_value = t.unexplained_value + excluded.unexplained_value,
      uncertain_units = t.uncertain_units + excluded.uncertain_units, uncertain_value = t.uncertain_value + excluded.uncertain_value,
      net_units = t.net_units + excluded.net_units, net_value = t.net_value + excluded.net_value
  $sql$, changed);
  RETURN NULL;
END $$;
