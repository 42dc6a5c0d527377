-- What the console shows first is found and counted without reading what is done.

-- Open orders by deadline, listed across sellers.
CREATE INDEX orders_open_by_ship_date
  ON warehouse.orders (coalesce(estimated_ship_date, 'infinity'::timestamptz), seller_id, purchase_order_id) WHERE open;
CREATE INDEX orders_open_by_order_date
  ON warehouse.orders (coalesce(order_date, '-infinity'::timestamptz), seller_id, purchase_order_id) WHERE open;
-- Lines with units that nobody has acknowledged.
CREATE INDEX order_lines_to_acknowledge ON warehouse.order_lines (seller_id, purchase_order_id)
  WHERE acknowledged + cancelled < ordered AND shipped + cancelled < ordered;
-- Search by city, without its case.
CREATE INDEX orders_by_city ON warehouse.orders (lower(shipping_address ->> 'city'), seller_id) WHERE shipping_address ->> 'city' IS NOT NULL;
-- Commands by when they were settled.
CREATE INDEX commands_by_settlement ON tallyman.commands (settled_at, state, seller_id) WHERE settled_at IS NOT NULL;
