-- Corrections of shipments are searched by both of their tracking numbers, as shipments are by those of their parcels.

CREATE INDEX commands_by_corrected_number ON tallyman.commands
  USING gin (jsonb_path_query_array(payload, '$.**.trackingNumber') jsonb_path_ops) WHERE kind = 'correct-shipment';
COMMENT ON TABLE warehouse.shipments IS
  'A parcel with units of a line. It stays when the marketplace no longer shows it, as after a refund or a corrected tracking number.';
