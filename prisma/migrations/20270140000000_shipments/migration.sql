-- Parcels stay when the marketplace no longer shows them: it shows refunded units without the parcel that they left in.
CREATE TABLE warehouse.shipments (
  seller_id         text           NOT NULL,
  purchase_order_id text           NOT NULL,
  line_number       text           NOT NULL,
  position          integer        NOT NULL,
  carrier           text,
  method_code       text,
  tracking_number   text,
  tracking_url      text,
  shipped_at        timestamptz(3),
  quantity          integer        NOT NULL,
  shown_quantity    integer        NOT NULL,
  first_seen_at     timestamptz(3) NOT NULL,
  changed_at        timestamptz(3) NOT NULL,
  PRIMARY KEY (seller_id, purchase_order_id, line_number, position)
);
COMMENT ON TABLE warehouse.shipments IS 'A parcel with units of a line. It stays when the marketplace no longer shows it, as after a refund.';
COMMENT ON COLUMN warehouse.shipments.position IS 'In the order in which the parcels of the line were first seen, from 0.';
COMMENT ON COLUMN warehouse.shipments.quantity IS 'The most units of the line that were seen in the parcel.';
COMMENT ON COLUMN warehouse.shipments.shown_quantity IS 'Units that the marketplace shows in the parcel now; 0: it no longer shows it.';

-- Filled from the statuses, and from the earlier versions of the orders that are still kept: these are the marketplace's own JSON.
-- The function goes with the session.
CREATE OR REPLACE FUNCTION pg_temp.moment_of(value jsonb) RETURNS timestamptz LANGUAGE plpgsql STABLE AS $$
BEGIN
  IF value #>> '{}' ~ '^\d{1,15}$' THEN RETURN to_timestamp((value #>> '{}')::numeric / 1000); END IF;
  -- A text without a zone is the marketplace's wall time, which is not known here.
  IF value #>> '{}' ~ '^\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:?\d\d)$' THEN RETURN (value #>> '{}')::timestamptz; END IF;
  RETURN NULL;
EXCEPTION WHEN data_exception THEN RETURN NULL;
END $$;

WITH reported AS (
  SELECT v.seller_id, v.record_key AS purchase_order_id, line ->> 'lineNumber' AS line_number, v.first_seen_at,
    v.first_seen_at || ' ' || encode(v.raw_hash, 'hex') AS version, s.place, s.status -> 'trackingInfo' AS tracking,
    substring(line #>> '{orderLineQuantity,amount}' FROM '^(\d{1,9})(?:\.0*)?$')::int AS ordered,
    substring(coalesce(s.status #>> '{statusQuantity,amount}', s.status #>> '{quantity,amount}') FROM '^(\d{1,9})(?:\.0*)?$')::int AS quantity
  FROM tallyman.superseded_versions v
  CROSS JOIN LATERAL jsonb_path_query(v.raw, 'lax $.orderLines.orderLine[*]') AS line
  CROSS JOIN LATERAL jsonb_path_query(line, 'lax $.orderLineStatuses.orderLineStatus[*]') WITH ORDINALITY AS s (status, place)
  WHERE v.resource = 'orders' AND v.raw @? 'lax $.orderLines.orderLine[*].orderLineStatuses.orderLineStatus[*].trackingInfo'
), seen AS (
  SELECT seller_id, purchase_order_id, line_number, position AS place, NULL AS version, first_seen_at, carrier, method_code, tracking_number,
    tracking_url, shipped_at, quantity
  FROM warehouse.order_line_statuses
  UNION ALL
  SELECT seller_id, purchase_order_id, line_number, place, version, first_seen_at,
    nullif(CASE WHEN jsonb_typeof(tracking -> 'carrierName') = 'string' THEN tracking ->> 'carrierName'
      ELSE coalesce(nullif(tracking #>> '{carrierName,carrier}', ''), tracking #>> '{carrierName,otherCarrier}') END, ''),
    nullif(tracking ->> 'methodCode', ''),
    CASE WHEN jsonb_typeof(tracking -> 'trackingNumber') IN ('string', 'number') THEN nullif(tracking ->> 'trackingNumber', '') END,
    nullif(tracking ->> 'trackingURL', ''), pg_temp.moment_of(tracking -> 'shipDateTime'),
    -- One status may leave its units out: it stands for those that no other one of the line names.
    coalesce(quantity, greatest(ordered - coalesce(sum(quantity) OVER (PARTITION BY seller_id, purchase_order_id, version, line_number), 0), 0), 0)
  FROM reported
), in_version AS (
  -- What is known last is taken of a parcel: the present row, then the newest version.
  SELECT seller_id, purchase_order_id, line_number, carrier, tracking_number,
    CASE WHEN tracking_number IS NULL THEN shipped_at END AS without_number, version, min(first_seen_at) AS first_seen_at, min(place) AS place,
    (array_agg(method_code ORDER BY place) FILTER (WHERE method_code IS NOT NULL))[1] AS method_code,
    (array_agg(tracking_url ORDER BY place) FILTER (WHERE tracking_url IS NOT NULL))[1] AS tracking_url,
    (array_agg(shipped_at ORDER BY place) FILTER (WHERE shipped_at IS NOT NULL))[1] AS shipped_at, sum(quantity)::int AS quantity
  FROM seen WHERE tracking_number IS NOT NULL OR shipped_at IS NOT NULL
  GROUP BY 1, 2, 3, 4, 5, 6, 7
), parcels AS (
  SELECT seller_id, purchase_order_id, line_number, carrier, tracking_number, min(first_seen_at) AS first_seen_at,
    (array_agg(place ORDER BY first_seen_at, place))[1] AS place,
    (array_agg(method_code ORDER BY version DESC NULLS FIRST) FILTER (WHERE method_code IS NOT NULL))[1] AS method_code,
    (array_agg(tracking_url ORDER BY version DESC NULLS FIRST) FILTER (WHERE tracking_url IS NOT NULL))[1] AS tracking_url,
    (array_agg(shipped_at ORDER BY version DESC NULLS FIRST) FILTER (WHERE shipped_at IS NOT NULL))[1] AS shipped_at,
    max(quantity) AS quantity, coalesce(max(quantity) FILTER (WHERE version IS NULL), 0) AS shown_quantity
  FROM in_version GROUP BY 1, 2, 3, 4, 5, without_number
)
INSERT INTO warehouse.shipments
SELECT seller_id, purchase_order_id, line_number,
  row_number() OVER (PARTITION BY seller_id, purchase_order_id, line_number ORDER BY first_seen_at, place, carrier, tracking_number) - 1,
  carrier, method_code, tracking_number, tracking_url, shipped_at, quantity, shown_quantity, first_seen_at, now()
FROM parcels p
WHERE EXISTS (SELECT FROM warehouse.order_lines l
  WHERE l.seller_id = p.seller_id AND l.purchase_order_id = p.purchase_order_id AND l.line_number = p.line_number);

-- Ids are searched by how they begin, in upper or lower case.
CREATE INDEX shipments_by_tracking_number ON warehouse.shipments (seller_id, lower(tracking_number) text_pattern_ops);
CREATE INDEX orders_by_lower_id ON warehouse.orders (seller_id, lower(purchase_order_id) text_pattern_ops);
CREATE INDEX orders_by_lower_customer_order ON warehouse.orders (seller_id, lower(customer_order_id) text_pattern_ops);
CREATE INDEX order_lines_by_lower_sku ON warehouse.order_lines (seller_id, lower(sku) text_pattern_ops);
