-- Refunds as they were noticed, and deliveries, which the marketplace no longer shows after a refund.
ALTER TABLE warehouse.order_lines ADD COLUMN refunds jsonb NOT NULL DEFAULT '[]';
COMMENT ON COLUMN warehouse.order_lines.refunds IS 'The refunds of the line as they were noticed, oldest first; warehouse.refunds shows them as rows.';
ALTER TABLE warehouse.shipments
  ADD COLUMN delivered_quantity integer NOT NULL DEFAULT 0,
  ADD COLUMN delivered_at timestamptz(3);
COMMENT ON COLUMN warehouse.shipments.delivered_quantity IS 'The most units of the line that were seen as delivered in the parcel.';
COMMENT ON COLUMN warehouse.shipments.delivered_at IS 'When the last of them were; null: none were, or the time is not known.';

-- Filled from the order and its earlier versions that are still kept. The functions go with the session.
CREATE OR REPLACE FUNCTION pg_temp.moment_of(value jsonb) RETURNS timestamptz LANGUAGE plpgsql STABLE AS $$
BEGIN
  IF value #>> '{}' ~ '^\d{1,15}$' THEN RETURN to_timestamp((value #>> '{}')::numeric / 1000); END IF;
  -- A text without a zone is the marketplace's wall time, which is not known here.
  IF value #>> '{}' ~ '^\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:?\d\d)$' THEN RETURN (value #>> '{}')::timestamptz; END IF;
  RETURN NULL;
EXCEPTION WHEN data_exception THEN RETURN NULL;
END $$;
CREATE OR REPLACE FUNCTION pg_temp.money_of(value jsonb) RETURNS numeric LANGUAGE sql IMMUTABLE AS $$
  SELECT coalesce(abs(substring(value #>> '{}' FROM '^-?\d{1,20}(?:\.\d{1,10})?$')::numeric), 0)
$$;
CREATE OR REPLACE FUNCTION pg_temp.units_in(line jsonb, states text) RETURNS integer LANGUAGE sql IMMUTABLE AS $$
  SELECT coalesce(sum(substring(coalesce(s #>> '{statusQuantity,amount}', s #>> '{quantity,amount}', line #>> '{orderLineQuantity,amount}')
    FROM '^(\d{1,9})(?:\.0*)?$')::int), 0)::int
  FROM jsonb_path_query(line, 'lax $.orderLineStatuses.orderLineStatus[*]') AS s WHERE s ->> 'status' ~* states
$$;

CREATE TEMPORARY TABLE line_versions ON COMMIT DROP AS
  SELECT seller_id, purchase_order_id, line_number, line, since,
    row_number() OVER (PARTITION BY seller_id, purchase_order_id, line_number ORDER BY since, is_current)::int AS version,
    CASE WHEN moment IS DISTINCT FROM lag(moment) OVER (PARTITION BY seller_id, purchase_order_id, line_number ORDER BY since, is_current)
      THEN moment END AS moment
  FROM (
    SELECT l.seller_id, l.purchase_order_id, l.line_number, v.line, v.since, v.is_current, pg_temp.moment_of(v.line -> 'statusDate') AS moment
    FROM warehouse.order_lines l
    JOIN warehouse.orders o ON o.seller_id = l.seller_id AND o.purchase_order_id = l.purchase_order_id
    CROSS JOIN LATERAL (
      SELECT l.raw AS line, o.changed_at AS since, true AS is_current
      UNION ALL
      SELECT line, s.first_seen_at, false FROM tallyman.superseded_versions s
      CROSS JOIN LATERAL jsonb_path_query(s.raw, 'lax $.orderLines.orderLine[*]') AS line
      WHERE s.seller_id = l.seller_id AND s.resource = 'orders' AND s.record_key = l.purchase_order_id AND line ->> 'lineNumber' = l.line_number
    ) v
    WHERE l.refunded > 0 OR l.refunded_amount <> 0 OR EXISTS (
      SELECT FROM warehouse.order_line_statuses d
      WHERE d.seller_id = l.seller_id AND d.purchase_order_id = l.purchase_order_id AND d.line_number = l.line_number AND d.status ILIKE 'delivered')
  ) versions;
CREATE INDEX ON line_versions (seller_id, purchase_order_id, line_number);

-- What a version shows beyond all earlier ones, by reason. Several reasons in one version: the largest money has its units.
WITH dated AS (
  SELECT *, coalesce(moment, CASE WHEN version > 1 THEN since END) AS refunded_at FROM line_versions
), shown AS (
  SELECT v.seller_id, v.purchase_order_id, v.line_number, v.version, nullif(c ->> 'refundReason', '') AS reason, max(r ->> 'refundId') AS refund_id,
    sum(pg_temp.money_of(c #> '{charge,chargeAmount,amount}')) AS amount,
    sum(pg_temp.money_of(c #> '{charge,tax,taxAmount,amount}') + pg_temp.money_of(c #> '{charge,taxAndOtherFees,taxAmount,amount}')) AS tax
  FROM dated v
  CROSS JOIN LATERAL (
    SELECT jsonb_path_query(v.line, 'lax $.refund[*]') AS r UNION ALL SELECT jsonb_path_query(v.line, 'lax $.refunds.refund[*]')
  ) refunds
  CROSS JOIN LATERAL jsonb_path_query(r, 'lax $.refundCharges.refundCharge[*]') AS c
  GROUP BY 1, 2, 3, 4, 5
), money AS (
  SELECT seller_id, purchase_order_id, line_number, version, reason, refund_id,
    amount - coalesce(max(amount) OVER earlier, 0) AS amount, tax - coalesce(max(tax) OVER earlier, 0) AS tax
  FROM shown
  WINDOW earlier AS (PARTITION BY seller_id, purchase_order_id, line_number, reason ORDER BY version ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
), new_money AS (
  SELECT *, row_number() OVER (PARTITION BY seller_id, purchase_order_id, line_number, version ORDER BY amount + tax DESC, reason) AS place
  FROM money WHERE amount + tax > 0
), units AS (
  SELECT seller_id, purchase_order_id, line_number, version,
    units - coalesce(max(units) OVER (PARTITION BY seller_id, purchase_order_id, line_number ORDER BY version
      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS units
  FROM (SELECT *, pg_temp.units_in(line, '^refund(ed)?$') AS units FROM dated) counted
), events AS (
  SELECT seller_id, purchase_order_id, line_number, version, coalesce(m.place, 1) AS place, m.refund_id, m.reason, coalesce(u.units, 0) AS units,
    coalesce(m.amount, 0) AS amount, coalesce(m.tax, 0) AS tax
  FROM new_money m FULL JOIN (SELECT *, 1::bigint AS place FROM units WHERE units > 0) u
    USING (seller_id, purchase_order_id, line_number, version, place)
), derived AS (
  SELECT seller_id, purchase_order_id, line_number, sum(e.units)::int AS units, sum(e.amount + e.tax) AS money,
    jsonb_agg(jsonb_build_object('refundId', e.refund_id, 'reason', e.reason, 'units', e.units, 'amount', e.amount::text, 'tax', e.tax::text,
      'refundedAt', to_char(v.refunded_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) ORDER BY version, e.place) AS refunds
  FROM events e JOIN dated v USING (seller_id, purchase_order_id, line_number, version)
  GROUP BY 1, 2, 3
)
UPDATE warehouse.order_lines l
SET refunds = coalesce(d.refunds, jsonb_build_array(jsonb_build_object('refundId', NULL,
  'reason', CASE WHEN jsonb_array_length(t.refund_reasons) = 1 THEN t.refund_reasons ->> 0 END, 'units', t.refunded,
  'amount', t.refunded_amount::text, 'tax', '0', 'refundedAt', to_char(t.status_date AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))))
FROM warehouse.order_lines t
-- What does not add up to the line is not used: one refund says what the line says. So it is after an erasure, which removes the marketplace's JSON.
LEFT JOIN derived d ON d.seller_id = t.seller_id AND d.purchase_order_id = t.purchase_order_id AND d.line_number = t.line_number
  AND d.units = t.refunded AND d.money = t.refunded_amount
WHERE l.seller_id = t.seller_id AND l.purchase_order_id = t.purchase_order_id AND l.line_number = t.line_number
  AND (t.refunded > 0 OR t.refunded_amount <> 0);

WITH deliveries AS (
  SELECT v.seller_id, v.purchase_order_id, v.line_number, v.version, s #>> '{trackingInfo,trackingNumber}' AS tracking_number,
    coalesce(v.moment, CASE WHEN v.version > 1 THEN v.since END) AS delivered_at,
    sum(pg_temp.units_in(jsonb_build_object('orderLineQuantity', v.line -> 'orderLineQuantity',
      'orderLineStatuses', jsonb_build_object('orderLineStatus', s)), '^delivered$')) AS units
  FROM line_versions v CROSS JOIN LATERAL jsonb_path_query(v.line, 'lax $.orderLineStatuses.orderLineStatus[*]') AS s
  WHERE s ->> 'status' ILIKE 'delivered'
  GROUP BY 1, 2, 3, 4, 5, 6
), newest AS (
  SELECT seller_id, purchase_order_id, line_number, tracking_number, max(units) AS units,
    (array_agg(delivered_at ORDER BY units DESC, version))[1] AS delivered_at
  FROM deliveries GROUP BY 1, 2, 3, 4
)
UPDATE warehouse.shipments p SET delivered_quantity = least(n.units, p.quantity), delivered_at = n.delivered_at
FROM newest n
WHERE n.seller_id = p.seller_id AND n.purchase_order_id = p.purchase_order_id AND n.line_number = p.line_number
  AND n.tracking_number = p.tracking_number;

-- A process compares the version of an order's row to decide whether it must read the order again.
UPDATE warehouse.orders o SET open = o.open
WHERE EXISTS (SELECT FROM line_versions v WHERE v.seller_id = o.seller_id AND v.purchase_order_id = o.purchase_order_id);

CREATE INDEX order_lines_refunded ON warehouse.order_lines (seller_id, purchase_order_id) WHERE refunds <> '[]';
