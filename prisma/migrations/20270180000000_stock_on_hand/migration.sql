-- What the fulfilment service has in stock of each SKU, by the marketplace's list of all items.
CREATE TABLE warehouse.stock_on_hand (
  seller_id                     text           NOT NULL,
  sku                           text           NOT NULL,
  item_name                     text,
  gtin                          text,
  item_id                       text,
  offer_id                      text,
  brand                         text,
  item_condition                text,
  publishing_status             text,
  lifecycle                     text,
  stock_status                  text,
  available_units               integer        NOT NULL,
  reserved_units                integer,
  on_hand_units                 integer,
  inbound_units                 integer,
  in_review_units               integer,
  in_movement_units             integer,
  age_0_to_90_units             integer,
  age_91_to_180_units           integer,
  age_181_to_270_units          integer,
  age_271_to_365_units          integer,
  age_over_365_units            integer,
  first_in_stock_on             date,
  days_of_supply                numeric,
  out_of_stock_on               date,
  sales_forecast_weeks_1_to_4   numeric,
  sales_forecast_weeks_5_to_8   numeric,
  sales_forecast_weeks_9_to_12  numeric,
  sell_through_rate             numeric,
  suggested_units               numeric,
  surplus_units                 numeric,
  missing_since              timestamptz(3),
  raw_hash                      bytea          NOT NULL,
  raw                           jsonb          NOT NULL,
  observed_at                timestamptz(3) NOT NULL,
  first_seen_at              timestamptz(3) NOT NULL,
  changed_at                 timestamptz(3) NOT NULL,
  PRIMARY KEY (seller_id, sku)
);
COMMENT ON TABLE warehouse.stock_on_hand IS 'The stock of a SKU at the fulfilment service.';
COMMENT ON COLUMN warehouse.stock_on_hand.available_units IS 'Units that can be sold.';
COMMENT ON COLUMN warehouse.stock_on_hand.reserved_units IS 'Units of orders that are not shipped yet; the marketplace shows them since 2026-06-25.';
COMMENT ON COLUMN warehouse.stock_on_hand.inbound_units IS 'Units on their way to the fulfilment service.';
COMMENT ON COLUMN warehouse.stock_on_hand.in_review_units IS 'Unavailable units: the marketplace reviews them.';
COMMENT ON COLUMN warehouse.stock_on_hand.in_movement_units IS 'Unavailable units: they move between warehouses.';
COMMENT ON COLUMN warehouse.stock_on_hand.age_0_to_90_units IS 'Units that arrived 0 to 90 days ago; the other age columns likewise.';
COMMENT ON COLUMN warehouse.stock_on_hand.sales_forecast_weeks_1_to_4 IS 'Sales that the marketplace expects in the next four weeks.';
COMMENT ON COLUMN warehouse.stock_on_hand.missing_since IS 'Since then the list is without this SKU; null while it has it.';
COMMENT ON COLUMN warehouse.stock_on_hand.observed_at IS 'On the marketplace''s clock, of the answer that brought this version.';
