-- The claim of a month, added up as its rows are written: adding up 300,000 rows when somebody asks took more than a second.
CREATE TABLE tallyman.claim_totals (
  seller_id         text    NOT NULL,
  month             date    NOT NULL,
  currency          text    NOT NULL,
  skus              bigint  NOT NULL,
  skus_compared     bigint  NOT NULL,
  lost_units        bigint  NOT NULL,
  lost_value        numeric NOT NULL,
  damaged_units     bigint  NOT NULL,
  damaged_value     numeric NOT NULL,
  found_units       bigint  NOT NULL,
  found_value       numeric NOT NULL,
  unexplained_units bigint  NOT NULL,
  unexplained_value numeric NOT NULL,
  uncertain_units   bigint  NOT NULL,
  uncertain_value   numeric NOT NULL,
  net_units         bigint  NOT NULL,
  net_value         numeric NOT NULL,
  PRIMARY KEY (seller_id, month, currency)
);
COMMENT ON TABLE tallyman.claim_totals IS 'Sums of tallyman.claim_rows; GET /v1/claims tells them.';
COMMENT ON COLUMN tallyman.claim_totals.currency IS 'Empty: SKUs without a known price.';
COMMENT ON COLUMN tallyman.claim_totals.net_units IS 'Lost, damaged and unexplained units, less found ones as far as units of their SKU were lost.';

CREATE FUNCTION tallyman.add_claims() RETURNS trigger LANGUAGE plpgsql AS $$
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
      SELECT *, coalesce(price_amount / price_units, 0) AS price, greatest(0, lost - found) + damaged + unexplained AS net FROM (%s) AS c
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
CREATE TRIGGER add_claims_inserted AFTER INSERT ON tallyman.claim_rows REFERENCING NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION tallyman.add_claims();
CREATE TRIGGER add_claims_updated AFTER UPDATE ON tallyman.claim_rows REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION tallyman.add_claims();
CREATE TRIGGER add_claims_deleted AFTER DELETE ON tallyman.claim_rows REFERENCING OLD TABLE AS old_rows
  FOR EACH STATEMENT EXECUTE FUNCTION tallyman.add_claims();

INSERT INTO tallyman.claim_totals
SELECT seller_id, month, coalesce(currency, ''), count(*) FILTER (WHERE listed), count(*) FILTER (WHERE listed AND compared),
  sum(lost), sum(lost * price), sum(damaged), sum(damaged * price), sum(found), sum(found * price), sum(unexplained), sum(unexplained * price),
  sum(uncertain), sum(uncertain * price), sum(net), sum(net * price)
FROM (
  SELECT *, coalesce(price_amount / price_units, 0) AS price, greatest(0, lost - found) + damaged + unexplained AS net FROM tallyman.claim_rows
) AS c
GROUP BY seller_id, month, coalesce(currency, '');

CREATE INDEX inventory_discrepancies_resolved_by_id ON warehouse.inventory_discrepancies (id) WHERE state = 'resolved';
