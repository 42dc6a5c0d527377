-- The change feed is read by type, by seller and by purchase order.

CREATE INDEX changes_by_type ON warehouse.changes (type, seq);
-- With the type in the index a seller's changes of a few types are found without their rows.
CREATE INDEX changes_by_seller ON warehouse.changes (seller_id, seq) INCLUDE (type);
-- A purchase order may be named without its seller.
DROP INDEX warehouse.changes_by_purchase_order;
CREATE INDEX changes_by_purchase_order ON warehouse.changes (purchase_order_id, seq) WHERE purchase_order_id IS NOT NULL;
