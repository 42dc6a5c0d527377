-- Goods such as HAZMAT are refunded through their order only (public facts 4.3).
ALTER TABLE warehouse.return_lines ADD COLUMN exception_item_type text;
UPDATE warehouse.return_lines SET exception_item_type = NULLIF(raw ->> 'exceptionItemType', '')
  WHERE NULLIF(raw ->> 'exceptionItemType', '') IS NOT NULL;

-- Events that refund units through a return name the return, and wait until it is stored. There are few of them at a time.
CREATE INDEX erp_event_received_by_return ON tallyman.erp_event (left(tallyman.normal_id(data -> 'returnOrderId'), 255), sequence)
  WHERE status = 'received' AND type = 'erp.return.refunded';

-- Lines that are not refunded completely, for the returns that are late.
CREATE INDEX return_lines_to_refund ON warehouse.return_lines (seller_id, return_order_id)
  WHERE refunded_quantity IS NULL OR refunded_quantity < quantity;
