-- Commands are searched by the tracking numbers of their parcels.

CREATE INDEX commands_by_tracking_number ON tallyman.commands
  USING gin (jsonb_path_query_array(payload, '$.parcels[*].trackingNumber') jsonb_path_ops) WHERE kind = 'ship';
