-- Sales channels of multichannel fulfilment.
CREATE TABLE warehouse.sales_channels (
  seller_id           text           NOT NULL,
  order_channel_id    text           NOT NULL,
  order_channel_name  text,
  box_catalog_type    text,
  shipping_methods    text,
  active              boolean,
  partner_id          text,
  partner_name        text,
  mart_id             text,
  created_date        timestamptz(3),
  return_line1        text,
  return_line2        text,
  return_line3        text,
  return_city         text,
  return_state        text,
  return_country      text,
  return_zip          text,
  return_address_type text,
  missing_since       timestamptz(3),
  raw_hash            bytea          NOT NULL,
  raw                 jsonb          NOT NULL,
  observed_at         timestamptz(3) NOT NULL,
  first_seen_at       timestamptz(3) NOT NULL,
  changed_at          timestamptz(3) NOT NULL,
  PRIMARY KEY (seller_id, order_channel_id)
);
COMMENT ON COLUMN warehouse.sales_channels.active IS 'Null when the marketplace says neither yes nor no.';
COMMENT ON COLUMN warehouse.sales_channels.partner_id IS 'The seller as the marketplace names it in the channel (sellerId on the wire).';
COMMENT ON COLUMN warehouse.sales_channels.missing_since IS 'Since then the marketplace lists the channel no more; null while it does.';
COMMENT ON COLUMN warehouse.sales_channels.observed_at IS 'On the marketplace''s clock, of the answer that brought this version.';
