-- Views for BI, and the time zone of their days.
CREATE TABLE tallyman.bi_settings (
  only_row  boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  time_zone text    NOT NULL DEFAULT 'UTC'
);
INSERT INTO tallyman.bi_settings DEFAULT VALUES;
COMMENT ON TABLE tallyman.bi_settings IS 'The settings of the views for BI, in one row.';
COMMENT ON COLUMN tallyman.bi_settings.time_zone IS 'The time zone of the days of views (BI_TIME_ZONE).';

-- The subquery of the zone is evaluated once for each statement.
CREATE VIEW warehouse.sales_daily WITH (security_invoker = true) AS
  SELECT o.seller_id, (o.order_date AT TIME ZONE (SELECT time_zone FROM tallyman.bi_settings))::date AS day, l.sku, l.currency,
    count(DISTINCT o.purchase_order_id)::int AS orders, sum(l.ordered)::bigint AS units, sum(c.gross) AS gross, sum(c.discount) AS discount,
    sum(c.tax) AS tax, sum(c.shipping) AS shipping, sum(c.charged - c.cancelled_amount - r.amount) AS net,
    sum(l.refunded)::bigint AS refunded, sum(r.amount) AS refunded_amount, sum(r.tax) AS refunded_tax,
    sum(l.cancelled)::bigint AS cancelled, sum(c.cancelled_amount) AS cancelled_amount
  FROM warehouse.orders o
  JOIN warehouse.order_lines l ON l.seller_id = o.seller_id AND l.purchase_order_id = o.purchase_order_id
  CROSS JOIN LATERAL (
    SELECT coalesce(sum(amount) FILTER (WHERE amount > 0 AND is_price), 0) AS gross, coalesce(sum(amount) FILTER (WHERE amount < 0), 0) AS discount,
      coalesce(sum(amount) FILTER (WHERE amount > 0 AND NOT is_price), 0) AS shipping, coalesce(sum(tax), 0) AS tax,
      coalesce(sum(amount), 0) AS charged, round(coalesce(sum(amount), 0) * l.cancelled / greatest(l.ordered, 1), 2) AS cancelled_amount
    FROM (
      SELECT (charge ->> 'amount')::numeric AS amount, upper(charge ->> 'chargeType') IS NOT DISTINCT FROM 'PRODUCT' AS is_price,
        coalesce((charge -> 'tax' ->> 'amount')::numeric, 0) + coalesce((charge -> 'taxAndOtherFees' ->> 'amount')::numeric, 0) AS tax
      FROM jsonb_array_elements(l.charges) AS charge
    ) charges
  ) c
  CROSS JOIN LATERAL (
    SELECT coalesce(sum((refund ->> 'amount')::numeric), 0) AS amount, coalesce(sum((refund ->> 'tax')::numeric), 0) AS tax
    FROM jsonb_array_elements(l.refunds) AS refund
  ) r
  GROUP BY 1, 2, 3, 4;
COMMENT ON VIEW warehouse.sales_daily IS 'Sales, one row for each seller, day of the order, SKU and currency. Cancellations and refunds count on the day of the order.';
COMMENT ON COLUMN warehouse.sales_daily.seller_id IS 'The seller.';
COMMENT ON COLUMN warehouse.sales_daily.day IS 'Day of the order in the time zone BI_TIME_ZONE; null: the order has no date.';
COMMENT ON COLUMN warehouse.sales_daily.sku IS 'SKU of the lines; null: they have none.';
COMMENT ON COLUMN warehouse.sales_daily.currency IS 'Currency of all money of the row; null: the lines have no charge.';
COMMENT ON COLUMN warehouse.sales_daily.orders IS 'Purchase orders with the SKU. An order with several SKUs counts in several rows: do not add them over SKUs.';
COMMENT ON COLUMN warehouse.sales_daily.units IS 'Ordered units, with those that were cancelled or refunded later.';
COMMENT ON COLUMN warehouse.sales_daily.gross IS 'Prices of the ordered units before discounts, without taxes.';
COMMENT ON COLUMN warehouse.sales_daily.discount IS 'Discounts, never positive.';
COMMENT ON COLUMN warehouse.sales_daily.tax IS 'Taxes and fees on all charges of the ordered units.';
COMMENT ON COLUMN warehouse.sales_daily.shipping IS 'Charges besides the price, such as shipping and gift wrap, without taxes.';
COMMENT ON COLUMN warehouse.sales_daily.net IS 'gross + discount + shipping - cancelled_amount - refunded_amount: without taxes, before commission.';
COMMENT ON COLUMN warehouse.sales_daily.refunded IS 'Refunded units.';
COMMENT ON COLUMN warehouse.sales_daily.refunded_amount IS 'Refunded money without taxes, never negative.';
COMMENT ON COLUMN warehouse.sales_daily.refunded_tax IS 'Refunded taxes and fees, never negative.';
COMMENT ON COLUMN warehouse.sales_daily.cancelled IS 'Cancelled units.';
COMMENT ON COLUMN warehouse.sales_daily.cancelled_amount IS 'The share of the cancelled units in gross + discount + shipping, rounded to cents for each line.';

CREATE VIEW warehouse.refunds WITH (security_invoker = true) AS
  SELECT l.seller_id, l.purchase_order_id, l.line_number, e.position::int AS position, l.sku, refund ->> 'refundId' AS refund_id,
    refund ->> 'reason' AS reason, (refund ->> 'units')::int AS units, (refund ->> 'amount')::numeric AS amount,
    (refund ->> 'tax')::numeric AS tax, l.currency, e.refunded_at,
    (e.refunded_at AT TIME ZONE (SELECT time_zone FROM tallyman.bi_settings))::date AS day, t.return_order_id
  FROM warehouse.order_lines l
  CROSS JOIN LATERAL (
    SELECT refund, position, (refund ->> 'refundedAt')::timestamptz(3) AS refunded_at
    FROM jsonb_array_elements(l.refunds) WITH ORDINALITY AS r(refund, position)
  ) e
  LEFT JOIN LATERAL (
    SELECT n.return_order_id FROM warehouse.return_lines n
    JOIN warehouse.returns h ON h.seller_id = n.seller_id AND h.return_order_id = n.return_order_id
    WHERE n.seller_id = l.seller_id AND n.purchase_order_id = l.purchase_order_id AND n.purchase_order_line_number = l.line_number
      AND (h.return_order_date <= e.refunded_at) IS NOT FALSE
    ORDER BY h.return_order_date DESC NULLS LAST, n.return_order_id DESC LIMIT 1
  ) t ON true
  WHERE l.refunds <> '[]';
COMMENT ON VIEW warehouse.refunds IS 'Refunds, one row for each refund of an order line as it was noticed: money of one reason, or units.';
COMMENT ON COLUMN warehouse.refunds.seller_id IS 'The seller.';
COMMENT ON COLUMN warehouse.refunds.purchase_order_id IS 'The purchase order.';
COMMENT ON COLUMN warehouse.refunds.line_number IS 'The order line: line_number of warehouse.order_lines.';
COMMENT ON COLUMN warehouse.refunds.position IS 'Number of the refund within the line, from 1, oldest first.';
COMMENT ON COLUMN warehouse.refunds.sku IS 'SKU of the line; null: it has none.';
COMMENT ON COLUMN warehouse.refunds.refund_id IS 'The id of the refund at the marketplace; null: it shows none.';
COMMENT ON COLUMN warehouse.refunds.reason IS 'The reason that the marketplace shows; null: it shows units without money.';
COMMENT ON COLUMN warehouse.refunds.units IS 'Refunded units; 0: money only.';
COMMENT ON COLUMN warehouse.refunds.amount IS 'Refunded money without taxes and fees, never negative.';
COMMENT ON COLUMN warehouse.refunds.tax IS 'Refunded taxes and fees, never negative.';
COMMENT ON COLUMN warehouse.refunds.currency IS 'Currency of the money.';
COMMENT ON COLUMN warehouse.refunds.refunded_at IS 'When it was refunded; null: before the order was first read, and the marketplace shows no time.';
COMMENT ON COLUMN warehouse.refunds.day IS 'Day of refunded_at in the time zone BI_TIME_ZONE.';
COMMENT ON COLUMN warehouse.refunds.return_order_id IS 'The newest return of the line that was created before the refund; null: there is none.';

CREATE VIEW warehouse.parcels WITH (security_invoker = true) AS
  SELECT p.seller_id, p.purchase_order_id, p.line_number, p.position, l.sku, o.ship_node_type, p.carrier, p.method_code, u.units,
    least(p.delivered_quantity, u.units) AS delivered_units, o.order_date AS ordered_at, o.estimated_ship_date AS due_at, p.shipped_at,
    (p.shipped_at AT TIME ZONE (SELECT time_zone FROM tallyman.bi_settings))::date AS day,
    round(extract(epoch FROM p.shipped_at - o.order_date) / 3600, 2) AS hours_to_ship, p.shipped_at > o.estimated_ship_date AS late,
    o.estimated_delivery_date AS delivery_due_at, p.delivered_at, p.delivered_at > o.estimated_delivery_date AS delivered_late
  FROM warehouse.shipments p
  JOIN warehouse.order_lines l ON l.seller_id = p.seller_id AND l.purchase_order_id = p.purchase_order_id AND l.line_number = p.line_number
  JOIN warehouse.orders o ON o.seller_id = p.seller_id AND o.purchase_order_id = p.purchase_order_id
  -- A corrected tracking number leaves two parcels with the same units. Those that the marketplace shows count first, then the newest.
  CROSS JOIN LATERAL (
    SELECT greatest(0, least(p.quantity, l.shipped - coalesce(sum(q.quantity), 0)))::int AS units
    FROM warehouse.shipments q
    WHERE q.seller_id = p.seller_id AND q.purchase_order_id = p.purchase_order_id AND q.line_number = p.line_number
      AND (q.shown_quantity > 0, q.position) > (p.shown_quantity > 0, p.position)
  ) u;
COMMENT ON VIEW warehouse.parcels IS 'Parcels, one row for each order line and parcel with units of it. A parcel stays after a refund.';
COMMENT ON COLUMN warehouse.parcels.seller_id IS 'The seller.';
COMMENT ON COLUMN warehouse.parcels.purchase_order_id IS 'The purchase order.';
COMMENT ON COLUMN warehouse.parcels.line_number IS 'The order line: line_number of warehouse.order_lines.';
COMMENT ON COLUMN warehouse.parcels.position IS 'The parcel of the line: position of warehouse.shipments.';
COMMENT ON COLUMN warehouse.parcels.sku IS 'SKU of the line; null: it has none.';
COMMENT ON COLUMN warehouse.parcels.ship_node_type IS 'Who ships the order: the seller, a third party or the marketplace, as the marketplace names it.';
COMMENT ON COLUMN warehouse.parcels.carrier IS 'The carrier.';
COMMENT ON COLUMN warehouse.parcels.method_code IS 'The shipping method.';
COMMENT ON COLUMN warehouse.parcels.units IS 'Units of the line in the parcel, each shipped unit in one parcel only; 0: another parcel has replaced it, as after a corrected tracking number.';
COMMENT ON COLUMN warehouse.parcels.delivered_units IS 'Units that were delivered.';
COMMENT ON COLUMN warehouse.parcels.ordered_at IS 'Time of the order.';
COMMENT ON COLUMN warehouse.parcels.due_at IS 'When the order should be shipped.';
COMMENT ON COLUMN warehouse.parcels.shipped_at IS 'When the parcel was shipped; null: the marketplace shows no time.';
COMMENT ON COLUMN warehouse.parcels.day IS 'Day of shipped_at in the time zone BI_TIME_ZONE.';
COMMENT ON COLUMN warehouse.parcels.hours_to_ship IS 'Hours from ordered_at to shipped_at.';
COMMENT ON COLUMN warehouse.parcels.late IS 'shipped_at is after due_at; null: one of them is not known.';
COMMENT ON COLUMN warehouse.parcels.delivery_due_at IS 'When the order should be delivered.';
COMMENT ON COLUMN warehouse.parcels.delivered_at IS 'When the last of delivered_units were delivered; null: none were, or the time is not known.';
COMMENT ON COLUMN warehouse.parcels.delivered_late IS 'delivered_at is after delivery_due_at; null: one of them is not known.';

CREATE VIEW warehouse.fulfilment_daily WITH (security_invoker = true) AS
  SELECT o.seller_id, (o.estimated_ship_date AT TIME ZONE (SELECT time_zone FROM tallyman.bi_settings))::date AS day, o.ship_node_type,
    count(DISTINCT o.purchase_order_id)::int AS orders, sum(l.ordered)::bigint AS units, sum(l.cancelled)::bigint AS cancelled,
    sum(l.shipped)::bigint AS shipped, coalesce(sum(p.on_time), 0)::bigint AS on_time, coalesce(sum(p.late), 0)::bigint AS late,
    coalesce(sum(p.delivered), 0)::bigint AS delivered,
    sum(CASE WHEN o.missing_since IS NULL THEN greatest(0, l.ordered - l.shipped - l.cancelled) ELSE 0 END)::bigint AS waiting,
    sum(CASE WHEN o.missing_since IS NULL AND o.estimated_ship_date < now() THEN greatest(0, l.ordered - l.shipped - l.cancelled) ELSE 0 END)::bigint
      AS overdue,
    round(sum(p.unit_hours) / nullif(sum(p.timed), 0), 2) AS hours_to_ship
  FROM warehouse.orders o
  JOIN warehouse.order_lines l ON l.seller_id = o.seller_id AND l.purchase_order_id = o.purchase_order_id
  LEFT JOIN LATERAL (
    SELECT sum(units) FILTER (WHERE NOT s.late) AS on_time, sum(units) FILTER (WHERE s.late) AS late, sum(delivered_units) AS delivered,
      sum(units * s.hours_to_ship) AS unit_hours, sum(units) FILTER (WHERE s.hours_to_ship IS NOT NULL) AS timed
    FROM warehouse.parcels s
    WHERE s.seller_id = l.seller_id AND s.purchase_order_id = l.purchase_order_id AND s.line_number = l.line_number
  ) p ON true
  GROUP BY 1, 2, 3;
COMMENT ON VIEW warehouse.fulfilment_daily IS 'Fulfilment, one row for each seller, day by which orders should be shipped, and type of the ship node.';
COMMENT ON COLUMN warehouse.fulfilment_daily.seller_id IS 'The seller.';
COMMENT ON COLUMN warehouse.fulfilment_daily.day IS 'Day of the ship-by time in the time zone BI_TIME_ZONE; null: the orders have none.';
COMMENT ON COLUMN warehouse.fulfilment_daily.ship_node_type IS 'Who ships the orders: the seller, a third party or the marketplace, as the marketplace names it.';
COMMENT ON COLUMN warehouse.fulfilment_daily.orders IS 'Purchase orders that should be shipped on the day.';
COMMENT ON COLUMN warehouse.fulfilment_daily.units IS 'Their ordered units.';
COMMENT ON COLUMN warehouse.fulfilment_daily.cancelled IS 'Units that were cancelled.';
COMMENT ON COLUMN warehouse.fulfilment_daily.shipped IS 'Units that were shipped, with those that were refunded later.';
COMMENT ON COLUMN warehouse.fulfilment_daily.on_time IS 'Units that were shipped by the ship-by time.';
COMMENT ON COLUMN warehouse.fulfilment_daily.late IS 'Units that were shipped after it. Of shipped units that are neither on time nor late the time is not known.';
COMMENT ON COLUMN warehouse.fulfilment_daily.delivered IS 'Units that were delivered.';
COMMENT ON COLUMN warehouse.fulfilment_daily.waiting IS 'Units that are neither shipped nor cancelled, of orders that the marketplace still has.';
COMMENT ON COLUMN warehouse.fulfilment_daily.overdue IS 'The waiting units whose ship-by time has passed.';
COMMENT ON COLUMN warehouse.fulfilment_daily.hours_to_ship IS 'Mean hours from the order to the shipment, over units with both times; null: there are none.';

CREATE VIEW warehouse.stock_now WITH (security_invoker = true) AS
  SELECT s.seller_id, s.sku, s.gtin, s.item_name AS product_name, 'list' AS source, s.observed_at AS as_of, s.on_hand_units::bigint AS on_hand_units,
    s.available_units, s.reserved_units, s.inbound_units, s.in_review_units, s.in_movement_units, s.stock_status, s.days_of_supply, s.out_of_stock_on
  FROM warehouse.stock_on_hand s WHERE s.missing_since IS NULL
  UNION ALL
  SELECT r.seller_id, r.sku, coalesce(r.gtin, f.gtin), f.product_name, 'log', greatest(r.covered_until, f.read_up_to)::timestamptz(3),
    r.ending_quantity + coalesce(m.units, 0), NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
  FROM (
    SELECT DISTINCT ON (seller_id, sku) seller_id, sku, gtin, covered_until, ending_quantity FROM warehouse.reconciliation_current_rows
    WHERE covered_until IS NOT NULL ORDER BY seller_id, sku, month DESC
  ) r
  LEFT JOIN warehouse.inventory_log_freshness f ON f.seller_id = r.seller_id AND f.sku = r.sku
  LEFT JOIN LATERAL (
    SELECT sum(e.changed_units) AS units FROM warehouse.inventory_log_entries e
    WHERE e.seller_id = r.seller_id AND e.sku = r.sku AND e.transaction_time >= r.covered_until AND e.missing_since IS NULL
      AND lower(btrim(e.transaction_location)) IS DISTINCT FROM 'salvage'
  ) m ON true
  WHERE NOT EXISTS (SELECT FROM warehouse.stock_on_hand s WHERE s.seller_id = r.seller_id AND s.sku = r.sku AND s.missing_since IS NULL);
COMMENT ON VIEW warehouse.stock_now IS 'The current stock at the fulfilment service, one row for each seller and SKU.';
COMMENT ON COLUMN warehouse.stock_now.seller_id IS 'The seller.';
COMMENT ON COLUMN warehouse.stock_now.sku IS 'The SKU.';
COMMENT ON COLUMN warehouse.stock_now.gtin IS 'GTIN of the item; null: not known.';
COMMENT ON COLUMN warehouse.stock_now.product_name IS 'Name of the item; null: not known.';
COMMENT ON COLUMN warehouse.stock_now.source IS 'list: as the marketplace lists it; log: the ending of the newest monthly report and the movements of the inventory log since, where no list has the SKU.';
COMMENT ON COLUMN warehouse.stock_now.as_of IS 'Of a list: since when the marketplace states this version. Of a log: up to when it has been read.';
COMMENT ON COLUMN warehouse.stock_now.on_hand_units IS 'Units at the fulfilment service; null: the list does not state them.';
COMMENT ON COLUMN warehouse.stock_now.available_units IS 'Units that can be sold; null, like all further columns: only a list states them.';
COMMENT ON COLUMN warehouse.stock_now.reserved_units IS 'Units of orders that are not shipped yet.';
COMMENT ON COLUMN warehouse.stock_now.inbound_units IS 'Units in transit to the fulfilment service.';
COMMENT ON COLUMN warehouse.stock_now.in_review_units IS 'Unavailable units: the marketplace reviews them.';
COMMENT ON COLUMN warehouse.stock_now.in_movement_units IS 'Unavailable units: they move between warehouses.';
COMMENT ON COLUMN warehouse.stock_now.stock_status IS 'In stock or out of stock, as the marketplace names it.';
COMMENT ON COLUMN warehouse.stock_now.days_of_supply IS 'Days for which the stock lasts, as the marketplace expects.';
COMMENT ON COLUMN warehouse.stock_now.out_of_stock_on IS 'Day on which the stock ends, as the marketplace expects.';

CREATE VIEW warehouse.order_payouts WITH (security_invoker = true) AS
  SELECT m.seller_id, m.purchase_order_id, m.currency, m.order_date AS ordered_at,
    (m.order_date AT TIME ZONE (SELECT time_zone FROM tallyman.bi_settings))::date AS day,
    CASE WHEN sum(m.open_amount) > 0 THEN 'pending' WHEN sum(m.report_rows) > 0 THEN 'paid' ELSE 'nothing-due' END AS state,
    sum(m.ordered)::bigint AS units, sum(m.shipped)::bigint AS shipped, sum(m.price + m.shipping) AS charged, sum(m.tax) AS tax,
    sum(m.paid) AS paid, sum(m.net_tax) AS net_tax, sum(m.commission) AS commission, sum(m.fees) AS fees, sum(m.refunds) AS refunds,
    sum(m.other) AS other, sum(m.payout) AS payout, sum(m.open_amount) AS open_amount, max(m.last_posted_on) AS last_posted_on
  FROM warehouse.order_money m
  GROUP BY m.seller_id, m.purchase_order_id, m.currency, m.order_date;
COMMENT ON VIEW warehouse.order_payouts IS 'What settlement reports have paid for orders, one row for each purchase order and currency.';
COMMENT ON COLUMN warehouse.order_payouts.seller_id IS 'The seller.';
COMMENT ON COLUMN warehouse.order_payouts.purchase_order_id IS 'The purchase order.';
COMMENT ON COLUMN warehouse.order_payouts.currency IS 'Currency of all money of the row; null: the lines have no charge.';
COMMENT ON COLUMN warehouse.order_payouts.ordered_at IS 'Time of the order.';
COMMENT ON COLUMN warehouse.order_payouts.day IS 'Day of ordered_at in the time zone BI_TIME_ZONE.';
COMMENT ON COLUMN warehouse.order_payouts.state IS 'pending: open_amount is positive; paid: reports have paid all shipped units; nothing-due: no unit is due, and no report names the order.';
COMMENT ON COLUMN warehouse.order_payouts.units IS 'Ordered units.';
COMMENT ON COLUMN warehouse.order_payouts.shipped IS 'Shipped units.';
COMMENT ON COLUMN warehouse.order_payouts.charged IS 'What the buyer was charged for all ordered units, without taxes.';
COMMENT ON COLUMN warehouse.order_payouts.tax IS 'Taxes and fees on these charges.';
COMMENT ON COLUMN warehouse.order_payouts.paid IS 'Prices and other charges that reports have paid.';
COMMENT ON COLUMN warehouse.order_payouts.net_tax IS 'Taxes of sales, less what the marketplace withheld.';
COMMENT ON COLUMN warehouse.order_payouts.commission IS 'Commissions, less those given back; negative: to the marketplace.';
COMMENT ON COLUMN warehouse.order_payouts.fees IS 'Fees and adjustments; negative: to the marketplace.';
COMMENT ON COLUMN warehouse.order_payouts.refunds IS 'Refunds, without the commission given back; negative: to the buyer.';
COMMENT ON COLUMN warehouse.order_payouts.other IS 'Discounts, reserves and other money.';
COMMENT ON COLUMN warehouse.order_payouts.payout IS 'paid + net_tax + commission + fees + refunds + other: all rows of reports that name the order.';
COMMENT ON COLUMN warehouse.order_payouts.open_amount IS 'Charges of shipped units that no report has paid, before commission; never negative.';
COMMENT ON COLUMN warehouse.order_payouts.last_posted_on IS 'Day on which the newest row was posted; null: no report names the order.';

CREATE VIEW warehouse.differences WITH (security_invoker = true) AS
  SELECT seller_id, 'inventory' AS source, id, kind, sku, NULL::text AS purchase_order_id, NULL::text AS line_number, month AS day,
    CASE WHEN kind IN ('sold', 'lost', 'damaged') THEN -difference ELSE difference END AS units,
    sign((CASE WHEN kind IN ('sold', 'lost', 'damaged') THEN -difference ELSE difference END)::numeric) * value AS value, currency, state, resolution,
    first_seen_at, resolved_at
  FROM warehouse.inventory_discrepancies
  UNION ALL
  SELECT seller_id, 'stock', id, 'stock', sku, NULL, NULL, (as_of AT TIME ZONE (SELECT time_zone FROM tallyman.bi_settings))::date, difference,
    sign(difference::numeric) * value, currency, state, resolution, first_seen_at, resolved_at
  FROM warehouse.stock_differences
  UNION ALL
  SELECT seller_id, 'settlement', id, kind, sku, purchase_order_id, line_number, report_date, NULL, difference, currency, state, resolution,
    first_seen_at, resolved_at
  FROM warehouse.settlement_differences;
COMMENT ON VIEW warehouse.differences IS 'Differences between two sources of the marketplace, with a signed value, one row for each source and id.';
COMMENT ON COLUMN warehouse.differences.seller_id IS 'The seller.';
COMMENT ON COLUMN warehouse.differences.source IS 'inventory: warehouse.inventory_discrepancies; stock: warehouse.stock_differences; settlement: warehouse.settlement_differences.';
COMMENT ON COLUMN warehouse.differences.id IS 'Id in the table of the source.';
COMMENT ON COLUMN warehouse.differences.kind IS 'Kind of the difference in the table of the source; stock: stock on hand and inventory log differ.';
COMMENT ON COLUMN warehouse.differences.sku IS 'The SKU; null: the difference has none.';
COMMENT ON COLUMN warehouse.differences.purchase_order_id IS 'The purchase order of a difference of settlement; null: others, and a row of a report that names none.';
COMMENT ON COLUMN warehouse.differences.line_number IS 'The order line; null as purchase_order_id, or the difference concerns no line.';
COMMENT ON COLUMN warehouse.differences.day IS 'First day of the month (inventory), day of the list (stock) or day of the report (settlement; null: no report has paid).';
COMMENT ON COLUMN warehouse.differences.units IS 'Units; negative: the report or the list has fewer units than the other side. Null: a difference of money.';
COMMENT ON COLUMN warehouse.differences.value IS 'Money with the sign of the difference, negative: against the seller. Units count at the last known price; null: none is known.';
COMMENT ON COLUMN warehouse.differences.currency IS 'Currency of the value.';
COMMENT ON COLUMN warehouse.differences.state IS 'open or resolved.';
COMMENT ON COLUMN warehouse.differences.resolution IS 'Why it is resolved, as in the table of the source; null: it is open.';
COMMENT ON COLUMN warehouse.differences.first_seen_at IS 'When it was found.';
COMMENT ON COLUMN warehouse.differences.resolved_at IS 'When it was resolved; null: it is open.';
