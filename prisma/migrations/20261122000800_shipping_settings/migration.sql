-- The account-level shipping settings of each seller, and commands that are not about a purchase order.

CREATE TABLE warehouse.shipping_settings (
  seller_id                    text           NOT NULL PRIMARY KEY,
  shipping_priority            text,
  migrate_free_shipping_offers boolean,
  carrier_services             text[]         NOT NULL,
  settings                     jsonb          NOT NULL,
  source                       text           NOT NULL DEFAULT 'found' CHECK (source IN ('command', 'found')),
  missing_since                timestamptz(3),
  raw                          jsonb          NOT NULL,
  raw_hash                     bytea          NOT NULL,
  observed_at                  timestamptz(3) NOT NULL,
  first_seen_at                timestamptz(3) NOT NULL,
  changed_at                   timestamptz(3) NOT NULL
);
COMMENT ON TABLE warehouse.shipping_settings IS 'One row a seller: the marketplace keeps one account-level setting for each.';
COMMENT ON COLUMN warehouse.shipping_settings.settings IS 'As understood: priority, and charges, one for each carrier service, region and address type, with amounts as text.';
COMMENT ON COLUMN warehouse.shipping_settings.carrier_services IS 'Every carrier service that has a charge, sorted.';
COMMENT ON COLUMN warehouse.shipping_settings.source IS 'command: created by a command of ours; found: created by somebody else, or changed since.';
COMMENT ON COLUMN warehouse.shipping_settings.missing_since IS 'Since when the marketplace says that there are none; null while they exist.';
COMMENT ON COLUMN warehouse.shipping_settings.raw IS 'As the marketplace reported them.';
COMMENT ON COLUMN warehouse.shipping_settings.raw_hash IS 'SHA-1 of raw with members and elements in one order: the marketplace gives configurations in any.';
COMMENT ON COLUMN warehouse.shipping_settings.observed_at IS 'On the marketplace''s clock.';

-- A command is about a subject: a purchase order, or the seller's shipping settings. Commands of one subject run one at a time.
ALTER TABLE tallyman.commands ALTER COLUMN purchase_order_id DROP NOT NULL;
ALTER TABLE tallyman.commands ADD COLUMN subject text NOT NULL
  GENERATED ALWAYS AS (CASE WHEN purchase_order_id IS NULL THEN 'shipping-settings' ELSE 'order ' || purchase_order_id END) STORED;
COMMENT ON COLUMN tallyman.commands.subject IS 'What the command is about, within its seller.';
ALTER TABLE tallyman.commands ADD CONSTRAINT commands_subject_of_kind
  CHECK ((purchase_order_id IS NULL) = (kind = 'create-shipping-settings'));
DROP INDEX tallyman.commands_open;
CREATE INDEX commands_open ON tallyman.commands (seller_id, subject, sequence) WHERE state NOT IN ('confirmed', 'rejected');
