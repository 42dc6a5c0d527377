-- What a person types is found by how it begins, regardless of case, spaces and hyphens.
DROP INDEX warehouse.shipments_by_tracking_number;
DROP INDEX warehouse.orders_by_lower_id;
DROP INDEX warehouse.orders_by_lower_customer_order;
DROP INDEX warehouse.order_lines_by_lower_sku;
CREATE INDEX shipments_by_typed_number ON warehouse.shipments (seller_id, lower(translate(tracking_number, ' -', '')) text_pattern_ops);
CREATE INDEX orders_by_typed_id ON warehouse.orders (seller_id, lower(translate(purchase_order_id, ' -', '')) text_pattern_ops);
CREATE INDEX orders_by_typed_customer_order ON warehouse.orders (seller_id, lower(translate(customer_order_id, ' -', '')) text_pattern_ops);
CREATE INDEX order_lines_by_typed_sku ON warehouse.order_lines (seller_id, lower(translate(sku, ' -', '')) text_pattern_ops);
CREATE INDEX erp_event_by_typed_id ON tallyman.erp_event (lower(translate(id, ' -', '')) text_pattern_ops);
CREATE INDEX commands_by_typed_id ON tallyman.commands (lower(translate(id, ' -', '')) text_pattern_ops);
