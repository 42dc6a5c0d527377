-- What the ERP has sent to the marketplace's fulfillment centers, beside the receipts in the inventory log.
CREATE TABLE warehouse.inbound_shipment_lines (
  seller_id      text           NOT NULL,
  shipment_id    text           NOT NULL,
  sku            text           NOT NULL,
  sent_units     integer        NOT NULL CHECK (sent_units > 0),
  shipped_at     timestamptz(3) NOT NULL,
  expected_by    timestamptz(3) NOT NULL,
  received_units bigint         NOT NULL DEFAULT 0,
  difference     bigint         NOT NULL GENERATED ALWAYS AS (received_units - sent_units) STORED,
  complete_at    timestamptz(3),
  log_read_up_to timestamptz(3),
  state          text           NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'complete', 'short', 'over')),
  late           boolean        NOT NULL DEFAULT false,
  first_seen_at  timestamptz(3) NOT NULL DEFAULT now(),
  changed_at     timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (seller_id, shipment_id, sku)
);
CREATE INDEX inbound_shipment_lines_by_sku ON warehouse.inbound_shipment_lines (seller_id, sku);
COMMENT ON TABLE warehouse.inbound_shipment_lines IS 'A SKU that the ERP has sent to a fulfillment center (event erp.inbound.shipped), beside its receipts in the inventory log.';
COMMENT ON COLUMN warehouse.inbound_shipment_lines.shipment_id IS 'As in the inventory log.';
COMMENT ON COLUMN warehouse.inbound_shipment_lines.expected_by IS 'When all units should be received: from the event, or 30 days after shipped_at.';
COMMENT ON COLUMN warehouse.inbound_shipment_lines.received_units IS 'Receipts of the log with this shipment id, with their corrections.';
COMMENT ON COLUMN warehouse.inbound_shipment_lines.difference IS 'received_units minus sent_units.';
COMMENT ON COLUMN warehouse.inbound_shipment_lines.complete_at IS 'Since when all sent units are received; null: they are not.';
COMMENT ON COLUMN warehouse.inbound_shipment_lines.log_read_up_to IS 'Up to when the log of the SKU was read when the two were compared; null: never.';
COMMENT ON COLUMN warehouse.inbound_shipment_lines.state IS 'open: less was received, and the log is not read up to expected_by; short: it is; complete: as many as sent; over: more.';
COMMENT ON COLUMN warehouse.inbound_shipment_lines.late IS 'Not all units were received by expected_by.';

-- Inbound shipments are also a source of SKUs whose inventory log is read.
COMMENT ON COLUMN tallyman.inventory_skus.source IS 'What named it first: settings, orders, report, stock or inbound.';
