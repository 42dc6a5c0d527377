-- How many units of a SKU the marketplace recommends to send to the fulfilment service: one row for each version.
CREATE TABLE warehouse.replenishment_recommendations (
  seller_id          text           NOT NULL,
  sku                text           NOT NULL,
  valid_from         timestamptz(3) NOT NULL,
  valid_to           timestamptz(3),
  item_id            text,
  gtin               text,
  upc                text,
  suggested_quantity integer,
  max_quantity       integer,
  raw_hash           bytea          NOT NULL,
  raw                jsonb          NOT NULL,
  observed_at        timestamptz(3) NOT NULL,
  first_seen_at      timestamptz(3) NOT NULL,
  changed_at         timestamptz(3) NOT NULL,
  PRIMARY KEY (seller_id, sku, valid_from),
  CHECK (valid_to >= valid_from)
);
CREATE UNIQUE INDEX replenishment_recommendations_current ON warehouse.replenishment_recommendations (seller_id, sku)
  WHERE valid_to IS NULL;
COMMENT ON COLUMN warehouse.replenishment_recommendations.valid_from IS 'On the marketplace''s clock: when this version was first seen.';
COMMENT ON COLUMN warehouse.replenishment_recommendations.valid_to IS 'On the marketplace''s clock: when another version was seen instead, or none any more; null: current.';
COMMENT ON COLUMN warehouse.replenishment_recommendations.suggested_quantity IS 'Null when the marketplace suggests nothing.';

CREATE VIEW warehouse.current_replenishment_recommendations AS
  SELECT seller_id, sku, item_id, gtin, upc, suggested_quantity, max_quantity, valid_from, raw
  FROM warehouse.replenishment_recommendations WHERE valid_to IS NULL;
COMMENT ON VIEW warehouse.current_replenishment_recommendations IS 'What the marketplace recommends now.';
