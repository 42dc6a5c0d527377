-- Units of inbound shipments that were not received are claims too; a SKU of a shipment may be unknown.
ALTER TABLE warehouse.inbound_shipment_lines
  ADD COLUMN delivered_at timestamptz(3),
  ADD COLUMN first_received_at timestamptz(3),
  DROP CONSTRAINT inbound_shipment_lines_state_check,
  ADD CONSTRAINT inbound_shipment_lines_state_check CHECK (state IN ('open', 'complete', 'short', 'over', 'unknown-sku'));
CREATE INDEX inbound_shipment_lines_short ON warehouse.inbound_shipment_lines (seller_id, shipment_id) WHERE difference < 0;
COMMENT ON COLUMN warehouse.inbound_shipment_lines.delivered_at IS 'When the fulfilment center got the shipment, as the event states; null: it does not.';
COMMENT ON COLUMN warehouse.inbound_shipment_lines.first_received_at IS 'The first receipt of the SKU in the log; null: none.';
COMMENT ON COLUMN warehouse.inbound_shipment_lines.state IS 'open: less was received, and the log is not read up to expected_by; short: it is; complete: as many as sent; over: more; unknown-sku: nothing was received, and neither orders, stock, reports nor the log have the SKU.';
UPDATE warehouse.inbound_shipment_lines l SET first_received_at = (
  SELECT min(e.transaction_time) FROM warehouse.inventory_log_entries e
  WHERE e.seller_id = l.seller_id AND e.sku = l.sku AND e.shipment_id = l.shipment_id AND e.changed_units > 0 AND e.missing_since IS NULL
) WHERE l.received_units > 0;

ALTER TABLE warehouse.claims
  ADD COLUMN shipment_id text,
  DROP CONSTRAINT claims_kind_check,
  ADD CONSTRAINT claims_kind_check CHECK (kind IN ('lost', 'damaged', 'missing', 'returned', 'inbound')),
  ADD CONSTRAINT claims_shipment_id_check CHECK ((kind = 'inbound') = (shipment_id IS NOT NULL)),
  DROP CONSTRAINT claims_seller_id_month_sku_kind_key;
CREATE UNIQUE INDEX claims_of_months ON warehouse.claims (seller_id, month, sku, kind) WHERE shipment_id IS NULL;
CREATE UNIQUE INDEX claims_of_shipments ON warehouse.claims (seller_id, shipment_id, sku) WHERE shipment_id IS NOT NULL;
COMMENT ON COLUMN warehouse.claims.kind IS 'lost, damaged: as the report states; returned: came back by the log, not by the report; missing: without any reason; inbound: units of an inbound shipment that were not received.';
COMMENT ON COLUMN warehouse.claims.shipment_id IS 'The inbound shipment; null: units of a month.';
COMMENT ON COLUMN warehouse.claims.month IS 'The month of the loss; of an inbound shipment the month of its delivery.';
COMMENT ON COLUMN warehouse.claims.deadline IS 'When the claim can no longer be filed (CLAIM_WINDOW, CLAIM_WINDOW_RETURNS, CLAIM_WINDOW_INBOUND); null: not computed yet.';

CREATE OR REPLACE FUNCTION tallyman.keep_claims() RETURNS trigger LANGUAGE plpgsql AS $$
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
    ON CONFLICT (seller_id, month, sku, kind) WHERE shipment_id IS NULL DO UPDATE
    SET units = excluded.units, certainty = excluded.certainty, unit_price = excluded.unit_price, value = excluded.value,
      currency = excluded.currency, changed_at = now(),
      state = CASE WHEN c.state = 'withdrawn' THEN 'open' ELSE c.state END,
      state_by = CASE WHEN c.state = 'withdrawn' THEN 'report' ELSE c.state_by END,
      state_changed_at = CASE WHEN c.state = 'withdrawn' THEN now() ELSE c.state_changed_at END
    WHERE (c.units, c.certainty, c.unit_price, c.currency) IS DISTINCT FROM (excluded.units, excluded.certainty, excluded.unit_price, excluded.currency)
  $sql$, changed);
  RETURN NULL;
END $$;
