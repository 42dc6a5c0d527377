-- A buyer quotes the last digits of an order: it is found by how its ids end, too.
CREATE INDEX orders_by_end_of_id ON warehouse.orders (seller_id, reverse(lower(translate(purchase_order_id, ' -', ''))) text_pattern_ops);
CREATE INDEX orders_by_end_of_customer_order ON warehouse.orders
  (seller_id, reverse(lower(translate(customer_order_id, ' -', ''))) text_pattern_ops);
