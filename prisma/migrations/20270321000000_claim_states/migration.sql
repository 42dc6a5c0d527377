-- Claims with a state: one for each SKU, month and kind, from the first complete report of the month until it is paid, refused or expired.
CREATE TABLE warehouse.claims (
  id               bigint         GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  seller_id        text           NOT NULL,
  sku              text           NOT NULL,
  month            date           NOT NULL,
  kind             text           NOT NULL CHECK (kind IN ('lost', 'damaged', 'missing', 'returned')),
  units            bigint         NOT NULL,
  certainty        text           NOT NULL CHECK (certainty IN ('reported', 'compared', 'not-compared')),
  unit_price       numeric,
  value            numeric,
  currency         text,
  state            text           NOT NULL DEFAULT 'open'
    CHECK (state IN ('open', 'filed', 'paid-in-part', 'paid', 'refused', 'expired', 'withdrawn')),
  deadline         timestamptz(3),
  reference        text,
  filed_units      bigint,
  paid_amount      numeric,
  state_by         text           NOT NULL DEFAULT 'report',
  state_changed_at timestamptz(3) NOT NULL DEFAULT now(),
  first_seen_at    timestamptz(3) NOT NULL DEFAULT now(),
  changed_at       timestamptz(3) NOT NULL DEFAULT now(),
  UNIQUE (seller_id, month, sku, kind)
);
CREATE INDEX claims_by_state ON warehouse.claims (state, id);
CREATE INDEX claims_open_by_deadline ON warehouse.claims (seller_id, deadline) WHERE state = 'open';
COMMENT ON TABLE warehouse.claims IS 'Units of a SKU that a seller can claim for a month, by kind, with the state of the claim.';
COMMENT ON COLUMN warehouse.claims.kind IS 'lost, damaged: as the report states; returned: came back by the log, not by the report; missing: without any reason.';
COMMENT ON COLUMN warehouse.claims.units IS 'Units that can be claimed now; units that are found again come off.';
COMMENT ON COLUMN warehouse.claims.certainty IS 'reported: the report states the units; compared: report and log were compared; not-compared: the log was not read far enough.';
COMMENT ON COLUMN warehouse.claims.unit_price IS 'The last known price of the SKU; null: none is known.';
COMMENT ON COLUMN warehouse.claims.state IS 'open; filed, paid-in-part, paid, refused: set by a person; expired: not filed by the deadline; withdrawn: nothing is missing any more.';
COMMENT ON COLUMN warehouse.claims.deadline IS 'When the claim can no longer be filed (CLAIM_WINDOW, CLAIM_WINDOW_RETURNS); null: not computed yet.';
COMMENT ON COLUMN warehouse.claims.reference IS 'The number of the case at the marketplace.';
COMMENT ON COLUMN warehouse.claims.filed_units IS 'Units when it was filed; null: it was not filed.';
COMMENT ON COLUMN warehouse.claims.paid_amount IS 'What was paid, in the currency of the value.';
COMMENT ON COLUMN warehouse.claims.state_by IS 'Who set the state; report: a report, the log or the deadline.';

-- Claims follow the rows of claims in the same transaction, so that neither is ahead of the other.
CREATE FUNCTION tallyman.keep_claims() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  changed CONSTANT text := CASE TG_OP WHEN 'DELETE' THEN 'SELECT false AS kept, * FROM old_rows' ELSE 'SELECT true AS kept, * FROM new_rows' END;
BEGIN
  EXECUTE format($sql$
    WITH claimed AS MATERIALIZED (
      SELECT c.seller_id, c.month, c.sku, k.kind, CASE WHEN c.kept AND c.complete THEN k.units ELSE 0 END AS units,
        CASE WHEN k.kind IN ('lost', 'damaged') THEN 'reported' WHEN c.compared THEN 'compared' ELSE 'not-compared' END AS certainty,
        c.price_amount / c.price_units AS price, c.currency
      FROM (%s) AS c CROSS JOIN LATERAL (
        VALUES ('lost', c.net_lost), ('damaged', c.damaged), ('missing', c.net_missing), ('returned', c.net_returned)
      ) AS k(kind, units)
    ), withdrawn AS (
      UPDATE warehouse.claims AS c SET units = 0, value = CASE WHEN c.value IS NOT NULL THEN 0 END, changed_at = now(),
        state = CASE WHEN c.state IN ('open', 'expired') THEN 'withdrawn' ELSE c.state END,
        state_by = CASE WHEN c.state IN ('open', 'expired') THEN 'report' ELSE c.state_by END,
        state_changed_at = CASE WHEN c.state IN ('open', 'expired') THEN now() ELSE c.state_changed_at END
      FROM claimed n WHERE n.units = 0 AND c.seller_id = n.seller_id AND c.month = n.month AND c.sku = n.sku AND c.kind = n.kind AND c.units <> 0
    )
    INSERT INTO warehouse.claims AS c (seller_id, sku, month, kind, units, certainty, unit_price, value, currency)
    SELECT seller_id, sku, month, kind, units, certainty, round(price, 4), round(units * price, 2), currency
    FROM claimed WHERE units > 0 ORDER BY seller_id, month, sku, kind
    ON CONFLICT (seller_id, month, sku, kind) DO UPDATE
    SET units = excluded.units, certainty = excluded.certainty, unit_price = excluded.unit_price, value = excluded.value,
      currency = excluded.currency, changed_at = now(),
      state = CASE WHEN c.state = 'withdrawn' THEN 'open' ELSE c.state END,
      state_by = CASE WHEN c.state = 'withdrawn' THEN 'report' ELSE c.state_by END,
      state_changed_at = CASE WHEN c.state = 'withdrawn' THEN now() ELSE c.state_changed_at END
    WHERE (c.units, c.certainty, c.unit_price, c.currency) IS DISTINCT FROM (excluded.units, excluded.certainty, excluded.unit_price, excluded.currency)
  $sql$, changed);
  RETURN NULL;
END $$;
CREATE TRIGGER keep_claims_inserted AFTER INSERT ON tallyman.claim_rows REFERENCING NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION tallyman.keep_claims();
CREATE TRIGGER keep_claims_updated AFTER UPDATE ON tallyman.claim_rows REFERENCING NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION tallyman.keep_claims();
CREATE TRIGGER keep_claims_deleted AFTER DELETE ON tallyman.claim_rows REFERENCING OLD TABLE AS old_rows
  FOR EACH STATEMENT EXECUTE FUNCTION tallyman.keep_claims();

INSERT INTO warehouse.claims (seller_id, sku, month, kind, units, certainty, unit_price, value, currency)
SELECT c.seller_id, c.sku, c.month, k.kind, k.units,
  CASE WHEN k.kind IN ('lost', 'damaged') THEN 'reported' WHEN c.compared THEN 'compared' ELSE 'not-compared' END,
  round(c.price_amount / c.price_units, 4), round(k.units * c.price_amount / c.price_units, 2), c.currency
FROM tallyman.claim_rows c CROSS JOIN LATERAL (
  VALUES ('lost', c.net_lost), ('damaged', c.damaged), ('missing', c.net_missing), ('returned', c.net_returned)
) AS k(kind, units)
WHERE c.complete AND k.units > 0;
