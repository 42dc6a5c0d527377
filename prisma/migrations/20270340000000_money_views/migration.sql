-- What a row of a settlement report moves money for, and views of the money of order lines and SKUs.
ALTER TABLE warehouse.settlement_lines
  ADD COLUMN movement text NOT NULL DEFAULT 'other',
  ADD COLUMN component text NOT NULL DEFAULT 'unknown',
  ADD COLUMN commission_rate numeric;
COMMENT ON COLUMN warehouse.settlement_lines.movement IS 'sale, refund, seller-refund (the seller issued it), reserve, summary (the paid total), or other: fees and adjustments.';
COMMENT ON COLUMN warehouse.settlement_lines.component IS 'price, shipping, tax, tax-withheld, commission, discount, fee, reserve, summary, or unknown: a name that is not known.';
COMMENT ON COLUMN warehouse.settlement_lines.commission_rate IS 'The rate of the commission that the row states, as a fraction; null: none.';

UPDATE warehouse.settlement_lines SET movement = CASE lower(btrim(replace(transaction_type, '"', '')))
    WHEN 'sale' THEN 'sale'
    WHEN 'refund' THEN CASE lower(btrim(replace(coalesce(description, ''), '"', ''))) WHEN 'seller triggered refund' THEN 'seller-refund' ELSE 'refund' END
    WHEN 'paymentsummary' THEN 'summary'
    WHEN 'reserve' THEN 'reserve'
    WHEN 'release reserve' THEN 'reserve'
    ELSE 'other'
  END;
UPDATE warehouse.settlement_lines SET component = CASE
    WHEN movement IN ('summary', 'reserve') THEN movement
    WHEN lower(btrim(replace(coalesce(amount_type, ''), '"', ''))) = '' THEN
      CASE WHEN lower(btrim(replace(coalesce(description, ''), '"', ''))) IN ('wfs charge', 'wfs fulfillment fee', 'wfs storagefee', 'wfs refund',
        'wfs return shipping fee', 'wfs return processing fee', 'wfs inventorytransferfee', 'wfs rc_inventorydisposalfee', 'wfs lostinventory',
        'wfs foundinventory', 'wmsc logistics services', 'walmart shipping label service charge', 'walmart product advertising', 'sem marketing',
        'review accelerator', 'business initiated discrete partner credit', 'misc invoices') THEN 'fee' ELSE 'unknown' END
    ELSE CASE lower(btrim(replace(amount_type, '"', '')))
      WHEN 'product price' THEN 'price'
      WHEN 'shipping' THEN 'shipping'
      WHEN 'shipping price' THEN 'shipping'
      WHEN 'product tax' THEN 'tax'
      WHEN 'shipping tax' THEN 'tax'
      WHEN 'product tax withheld' THEN 'tax-withheld'
      WHEN 'shipping tax withheld' THEN 'tax-withheld'
      WHEN 'commission on product' THEN 'commission'
      WHEN 'promo code' THEN 'discount'
      WHEN 'extra savings' THEN 'discount'
      WHEN 'total walmart funded savings' THEN 'discount'
      WHEN 'commission on shipping' THEN 'fee'
      WHEN 'fee/reimbursement' THEN 'fee'
      WHEN 'wfs fee/reimbursement' THEN 'fee'
      WHEN 'wfs inventory fee/reimbursement' THEN 'fee'
      WHEN 'other tax (fees)' THEN 'fee'
      WHEN 'sem marketing fee' THEN 'fee'
      WHEN 'review accelerator fee' THEN 'fee'
      WHEN 'ocean freight and related services' THEN 'fee'
      ELSE 'unknown'
    END
  END;
UPDATE warehouse.settlement_lines SET commission_rate = CASE
    WHEN raw ->> 'Commission Rate' ~ '^0(\.\d{1,6})?$' THEN (raw ->> 'Commission Rate')::numeric
    WHEN raw ->> 'Commission Rate' ~ '^\d{1,2}(\.\d{1,6})?\s*%?$' THEN rtrim(raw ->> 'Commission Rate', '% ')::numeric / 100
  END
WHERE raw ? 'Commission Rate';
ALTER TABLE warehouse.settlement_lines ALTER COLUMN movement DROP DEFAULT, ALTER COLUMN component DROP DEFAULT;

-- A row belongs to the order line of its number if that line has its SKU. The numbers of reports may differ from those of orders: otherwise it belongs to the
-- first line of the order with its SKU.
CREATE VIEW warehouse.order_money AS
  SELECT l.seller_id, l.purchase_order_id, l.line_number, l.sku, o.order_date, l.currency, l.ordered, l.shipped, l.cancelled, l.refunded,
    c.price, c.shipping, c.tax, m.paid, m.net_tax, m.commission, m.fees, m.refunds, m.other, m.payout,
    greatest(0, round((c.price + c.shipping) * l.shipped / greatest(l.ordered, 1), 2) - m.paid) AS open_amount, m.report_rows, m.last_posted_on
  FROM warehouse.order_lines l
  JOIN warehouse.orders o ON o.seller_id = l.seller_id AND o.purchase_order_id = l.purchase_order_id
  CROSS JOIN LATERAL (
    SELECT coalesce(sum((charge ->> 'amount')::numeric) FILTER (WHERE upper(charge ->> 'chargeType') = 'PRODUCT'), 0) AS price,
      coalesce(sum((charge ->> 'amount')::numeric) FILTER (WHERE upper(charge ->> 'chargeType') IS DISTINCT FROM 'PRODUCT'), 0) AS shipping,
      coalesce(sum(coalesce((charge -> 'tax' ->> 'amount')::numeric, 0) + coalesce((charge -> 'taxAndOtherFees' ->> 'amount')::numeric, 0)), 0) AS tax
    FROM jsonb_array_elements(l.charges) AS charge
  ) c
  CROSS JOIN LATERAL (
    SELECT coalesce(sum(s.amount) FILTER (WHERE s.movement = 'sale' AND s.component IN ('price', 'shipping', 'unknown')), 0) AS paid,
      coalesce(sum(s.amount) FILTER (WHERE s.movement = 'sale' AND s.component IN ('tax', 'tax-withheld')), 0) AS net_tax,
      coalesce(sum(s.amount) FILTER (WHERE s.component = 'commission'), 0) AS commission,
      coalesce(sum(s.amount) FILTER (WHERE s.component = 'fee' OR (s.movement = 'other' AND s.component = 'unknown')), 0) AS fees,
      coalesce(sum(s.amount) FILTER (WHERE s.movement IN ('refund', 'seller-refund') AND s.component NOT IN ('commission', 'fee')), 0) AS refunds,
      coalesce(sum(s.amount) FILTER (WHERE (s.movement = 'sale' AND s.component = 'discount') OR s.movement = 'reserve'
        OR (s.movement = 'other' AND s.component NOT IN ('commission', 'fee', 'unknown'))), 0) AS other,
      coalesce(sum(s.amount), 0) AS payout, count(*)::int AS report_rows, max(s.posted_on) AS last_posted_on
    FROM warehouse.settlement_lines s
    WHERE s.seller_id = l.seller_id AND s.purchase_order_id = l.purchase_order_id AND s.missing_since IS NULL AND s.movement <> 'summary'
      AND (s.sku IS NULL OR l.sku IS NULL OR lower(s.sku) = lower(l.sku))
      AND (s.purchase_order_line = l.line_number OR l.line_index = (
        SELECT t.line_index FROM warehouse.order_lines t
        WHERE t.seller_id = l.seller_id AND t.purchase_order_id = l.purchase_order_id
          AND (s.sku IS NULL OR t.sku IS NULL OR lower(t.sku) = lower(s.sku))
        ORDER BY (t.line_number = s.purchase_order_line) IS NOT TRUE, t.line_index LIMIT 1))
  ) m;
COMMENT ON VIEW warehouse.order_money IS 'The money of an order line: what the buyer was charged, and what settlement reports have paid, charged and refunded.';

CREATE VIEW warehouse.sku_money AS
  SELECT seller_id, sku, date_trunc('month', order_date AT TIME ZONE 'UTC')::date AS month, currency, count(DISTINCT purchase_order_id)::int AS orders,
    sum(ordered)::bigint AS ordered, sum(shipped)::bigint AS shipped, sum(cancelled)::bigint AS cancelled, sum(refunded)::bigint AS refunded,
    sum(price) AS price, sum(shipping) AS shipping, sum(tax) AS tax, sum(paid) AS paid, sum(net_tax) AS net_tax, sum(commission) AS commission,
    sum(fees) AS fees, sum(refunds) AS refunds, sum(other) AS other, sum(payout) AS payout, sum(open_amount) AS open_amount
  FROM warehouse.order_money
  GROUP BY 1, 2, 3, 4;
COMMENT ON VIEW warehouse.sku_money IS 'The money of order lines by SKU and month of the order.';
