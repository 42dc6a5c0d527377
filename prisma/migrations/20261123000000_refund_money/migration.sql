-- Money that a refund is worked out from: refunded money that was read with the wrong sign, and fees beside the tax of a charge.

UPDATE warehouse.order_lines SET refunded_amount = -refunded_amount WHERE refunded_amount < 0;

-- Fees stand in the raw line; the n-th charge of a name belongs to the n-th of that name, as in reading. What is no amount stays out.
WITH reported AS (
  SELECT l.seller_id, l.purchase_order_id, l.line_number,
    coalesce(c.charge ->> 'chargeType', '') AS charge_type, coalesce(c.charge ->> 'chargeName', '') AS charge_name,
    row_number() OVER (PARTITION BY l.seller_id, l.purchase_order_id, l.line_number,
      coalesce(c.charge ->> 'chargeType', ''), coalesce(c.charge ->> 'chargeName', '') ORDER BY c.place) AS nth,
    coalesce(c.charge #>> '{taxAndOtherFees,taxName}', '') AS fee_name,
    c.charge #>> '{taxAndOtherFees,taxAmount,amount}' AS fee_amount,
    coalesce(c.charge #>> '{taxAndOtherFees,taxAmount,currency}', c.charge #>> '{chargeAmount,currency}', '') AS fee_currency
  FROM warehouse.order_lines l, jsonb_array_elements(
    CASE WHEN jsonb_typeof(l.raw #> '{charges,charge}') = 'array' THEN l.raw #> '{charges,charge}' ELSE '[]' END
  ) WITH ORDINALITY AS c (charge, place)
  WHERE l.raw @? '$.charges.charge[*].taxAndOtherFees.taxAmount.amount'
), stored AS (
  SELECT l.seller_id, l.purchase_order_id, l.line_number, c.charge, c.place,
    row_number() OVER (PARTITION BY l.seller_id, l.purchase_order_id, l.line_number,
      c.charge ->> 'chargeType', c.charge ->> 'chargeName' ORDER BY c.place) AS nth
  FROM warehouse.order_lines l, jsonb_array_elements(l.charges) WITH ORDINALITY AS c (charge, place)
  WHERE l.raw @? '$.charges.charge[*].taxAndOtherFees.taxAmount.amount'
), completed AS (
  SELECT s.seller_id, s.purchase_order_id, s.line_number, jsonb_agg(
    CASE WHEN r.fee_amount ~ '^-?\d{1,40}(\.\d{1,40})?$' THEN s.charge || jsonb_build_object('taxAndOtherFees',
      jsonb_build_object('taxName', r.fee_name, 'amount', r.fee_amount, 'currency', r.fee_currency))
    ELSE s.charge END ORDER BY s.place) AS charges
  FROM stored s LEFT JOIN reported r ON r.seller_id = s.seller_id AND r.purchase_order_id = s.purchase_order_id
    AND r.line_number = s.line_number AND r.nth = s.nth
    AND r.charge_type = s.charge ->> 'chargeType' AND r.charge_name = s.charge ->> 'chargeName'
  GROUP BY s.seller_id, s.purchase_order_id, s.line_number
)
UPDATE warehouse.order_lines l SET charges = c.charges
FROM completed c
WHERE l.seller_id = c.seller_id AND l.purchase_order_id = c.purchase_order_id AND l.line_number = c.line_number;
