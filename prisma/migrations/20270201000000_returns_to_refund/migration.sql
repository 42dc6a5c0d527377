-- Returned units that have arrived and are not refunded, by the time of their arrival, for the returns that must be refunded.
ALTER TABLE warehouse.return_line_tracking_statuses ADD COLUMN refund_open boolean NOT NULL DEFAULT true;
COMMENT ON COLUMN warehouse.return_line_tracking_statuses.refund_open IS 'The line has units that are not refunded, by the marketplace''s count.';
UPDATE warehouse.return_line_tracking_statuses t SET refund_open = false FROM warehouse.return_lines l
  WHERE l.seller_id = t.seller_id AND l.return_order_id = t.return_order_id AND l.return_order_line_number = t.return_order_line_number
    AND l.refunded_quantity >= l.quantity;
CREATE INDEX return_line_tracking_statuses_to_refund ON warehouse.return_line_tracking_statuses (seller_id, upper(status), status_time)
  WHERE refund_open;

-- Lines without tracking statuses, by their own status. The earlier index had no order that a query could use.
DROP INDEX warehouse.return_lines_to_refund;
CREATE INDEX return_lines_to_refund ON warehouse.return_lines (seller_id, upper(status), changed_at)
  WHERE refunded_quantity IS NULL OR refunded_quantity < quantity;
