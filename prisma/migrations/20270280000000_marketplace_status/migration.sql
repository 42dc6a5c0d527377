-- What the marketplace reports about its own operations.
CREATE TABLE tallyman.marketplace_status (
  seller_id  text           NOT NULL,
  api_group  text           NOT NULL,
  status     text           NOT NULL,
  since      timestamptz(3) NOT NULL,
  checked_at timestamptz(3) NOT NULL,
  PRIMARY KEY (seller_id, api_group)
);
COMMENT ON TABLE tallyman.marketplace_status IS 'The status of each group of operations, as the marketplace of a seller last reported it.';
COMMENT ON COLUMN tallyman.marketplace_status.api_group IS 'The group as the marketplace spells it, for example Orders.';
COMMENT ON COLUMN tallyman.marketplace_status.status IS 'OPERATIONAL, SERVICE_DEGRADATION, SERVICE_OUTAGE or another word of the marketplace.';
COMMENT ON COLUMN tallyman.marketplace_status.since IS 'When this status was first reported.';
