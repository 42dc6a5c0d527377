/**
 * SQL of a query of the last known prices of SKUs, from the newest order with a price: `seller_id`, `sku`, `amount`, `units` and `currency`. The unit
 * price is `amount / units`; dividing last avoids rounding. SKUs without a price are omitted.
 * @param wanted a table expression with `seller_id` and `sku`
 * @param productCharge the parameter with the type of charge that is the price
 */
export const selectLastUnitPrices = (wanted: string, productCharge: string): string => `
  SELECT w.seller_id, w.sku, p.amount, p.units, p.currency
  FROM ${wanted} w
  CROSS JOIN LATERAL (
    SELECT c.amount, l.ordered AS units, c.currency
    FROM warehouse.order_lines l
    JOIN warehouse.orders o ON o.seller_id = l.seller_id AND o.purchase_order_id = l.purchase_order_id
    CROSS JOIN LATERAL (
      SELECT sum((charge ->> 'amount')::numeric) AS amount, min(charge ->> 'currency') AS currency
      FROM jsonb_array_elements(l.charges) AS charge WHERE upper(charge ->> 'chargeType') = ${productCharge}::text
    ) c
    WHERE l.seller_id = w.seller_id AND l.sku = w.sku AND l.ordered > 0 AND c.amount > 0
    ORDER BY o.order_date DESC NULLS LAST, o.purchase_order_id DESC
    LIMIT 1
  ) p`
