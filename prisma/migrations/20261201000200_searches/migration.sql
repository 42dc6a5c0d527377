-- Lists are searched by what their rows show.

CREATE INDEX orders_by_order_date ON warehouse.orders (coalesce(order_date, '-infinity'::timestamptz), seller_id, purchase_order_id);
CREATE INDEX orders_by_ship_date ON warehouse.orders (coalesce(estimated_ship_date, 'infinity'::timestamptz), seller_id, purchase_order_id);
-- Events of an order, decided or not.
CREATE INDEX erp_event_by_order ON tallyman.erp_event (left(tallyman.normal_id(data -> 'purchaseOrderId'), 255), sequence);
