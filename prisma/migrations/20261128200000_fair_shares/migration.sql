-- Due work is derived in shares of the sellers: for each of them the first so many, not the oldest of all.

-- Within a share what the marketplace wants earliest comes first.
ALTER TABLE tallyman.commands ADD COLUMN act_by timestamptz(3);
COMMENT ON COLUMN tallyman.commands.act_by IS
  'By when the marketplace wants it done, as known when it was asked for: an acknowledgement within four hours of the order, a shipment by its date. Null: not told.';
UPDATE tallyman.commands c SET act_by = CASE c.kind WHEN 'acknowledge' THEN o.order_date + interval '4 hours' ELSE o.estimated_ship_date END
  FROM warehouse.orders o
  WHERE o.seller_id = c.seller_id AND o.purchase_order_id = c.purchase_order_id AND c.kind IN ('acknowledge', 'ship')
    AND c.state IN ('pending', 'sending', 'verifying');

-- The order within a share, and which sellers have one: the first of each are found without reading what is behind them.
CREATE INDEX commands_by_share ON tallyman.commands (seller_id, kind, act_by, sequence) WHERE state IN ('pending', 'sending', 'verifying');
-- Whose a waiting event is, as well as it can be told. Cut off, so that no row is too long for it.
CREATE INDEX erp_event_received_by_seller
  ON tallyman.erp_event (left(coalesce(seller_id, tallyman.normal_id(data -> 'sellerId'), ''), 255), due_at, sequence) WHERE status = 'received';
