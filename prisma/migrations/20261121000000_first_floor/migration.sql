-- The first floor: orders, returns and their changes in `warehouse`; events, commands and syncs in `tallyman`.

CREATE SCHEMA IF NOT EXISTS warehouse;
CREATE SCHEMA IF NOT EXISTS tallyman;

-- ── warehouse ──────────────────────────────────────────────────────────────────────────────────────────
-- No foreign keys between the tables of one aggregate: a page is written by one statement that writes parents and
-- children together, and checking each child again would cost a fifth of the load rate.

CREATE TABLE warehouse.orders (
  seller_id               text           NOT NULL,
  purchase_order_id       text           NOT NULL,
  customer_order_id       text,
  order_date              timestamptz(3),
  order_type              text,
  ship_node_type          text,
  method_code             text,
  estimated_ship_date     timestamptz(3),
  estimated_delivery_date timestamptz(3),
  customer_name           text,
  customer_email          text,
  customer_phone          text,
  shipping_address        jsonb,
  total_amount            numeric,
  currency                text,
  open                    boolean        NOT NULL,
  raw_hash                bytea          NOT NULL,
  raw                     jsonb          NOT NULL,
  observed_at             timestamptz(3) NOT NULL,
  missing_since           timestamptz(3),
  first_seen_at           timestamptz(3) NOT NULL,
  changed_at              timestamptz(3) NOT NULL,
  PRIMARY KEY (seller_id, purchase_order_id)
);
CREATE INDEX orders_by_date ON warehouse.orders (seller_id, order_date DESC);
CREATE INDEX orders_open ON warehouse.orders (seller_id, purchase_order_id) WHERE open;
CREATE INDEX orders_by_customer_order ON warehouse.orders (seller_id, customer_order_id);
COMMENT ON COLUMN warehouse.orders.open IS 'Some units are neither shipped nor cancelled: the daily sweep reads the order again.';
COMMENT ON COLUMN warehouse.orders.missing_since IS 'Since then the marketplace answers that it has no such order; null while it knows the order.';
COMMENT ON COLUMN warehouse.orders.observed_at IS 'On the marketplace''s clock: an older observation never overwrites a newer one.';

CREATE TABLE warehouse.order_lines (
  seller_id         text           NOT NULL,
  purchase_order_id text           NOT NULL,
  line_number       text           NOT NULL,
  line_index        integer        NOT NULL,
  sku               text,
  product_name      text,
  unit_of_measure   text,
  ordered           integer        NOT NULL CHECK (ordered >= 0),
  acknowledged      integer        NOT NULL CHECK (acknowledged >= 0),
  shipped           integer        NOT NULL CHECK (shipped >= 0),
  cancelled         integer        NOT NULL CHECK (cancelled >= 0),
  refunded          integer        NOT NULL CHECK (refunded >= 0),
  refunded_amount   numeric        NOT NULL,
  currency          text,
  charges           jsonb          NOT NULL,
  refund_reasons    jsonb          NOT NULL,
  intent_to_cancel  boolean        NOT NULL,
  status_date       timestamptz(3),
  raw               jsonb          NOT NULL,
  first_seen_at     timestamptz(3) NOT NULL,
  changed_at        timestamptz(3) NOT NULL,
  PRIMARY KEY (seller_id, purchase_order_id, line_number)
);
CREATE INDEX order_lines_by_sku ON warehouse.order_lines (seller_id, sku);
COMMENT ON COLUMN warehouse.order_lines.charges IS 'As first seen: the marketplace reports zero once units are cancelled.';

CREATE TABLE warehouse.order_line_statuses (
  seller_id           text           NOT NULL,
  purchase_order_id   text           NOT NULL,
  line_number         text           NOT NULL,
  position            integer        NOT NULL,
  status              text           NOT NULL,
  quantity            integer        NOT NULL,
  cancellation_reason text,
  carrier             text,
  method_code         text,
  tracking_number     text,
  tracking_url        text,
  shipped_at          timestamptz(3),
  raw                 jsonb          NOT NULL,
  first_seen_at       timestamptz(3) NOT NULL,
  changed_at          timestamptz(3) NOT NULL,
  PRIMARY KEY (seller_id, purchase_order_id, line_number, position)
);
CREATE INDEX order_line_statuses_by_tracking_number ON warehouse.order_line_statuses (seller_id, tracking_number)
  WHERE tracking_number IS NOT NULL;

CREATE TABLE warehouse.returns (
  seller_id           text           NOT NULL,
  return_order_id     text           NOT NULL,
  customer_order_id   text,
  return_type         text,
  refund_mode         text,
  return_order_date   timestamptz(3),
  return_by_date      timestamptz(3),
  total_refund_amount numeric,
  currency            text,
  raw_hash            bytea          NOT NULL,
  raw                 jsonb          NOT NULL,
  observed_at         timestamptz(3) NOT NULL,
  first_seen_at       timestamptz(3) NOT NULL,
  changed_at          timestamptz(3) NOT NULL,
  PRIMARY KEY (seller_id, return_order_id)
);
CREATE INDEX returns_by_date ON warehouse.returns (seller_id, return_order_date DESC);

CREATE TABLE warehouse.return_lines (
  seller_id                  text           NOT NULL,
  return_order_id            text           NOT NULL,
  return_order_line_number   integer        NOT NULL,
  purchase_order_id          text,
  purchase_order_line_number text,
  sales_order_line_number    text,
  sku                        text,
  product_name               text,
  quantity                   integer        NOT NULL,
  unit_of_measure            text,
  refunded_quantity          integer,
  return_reason              text,
  status                     text,
  raw                        jsonb          NOT NULL,
  first_seen_at              timestamptz(3) NOT NULL,
  changed_at                 timestamptz(3) NOT NULL,
  PRIMARY KEY (seller_id, return_order_id, return_order_line_number)
);
CREATE INDEX return_lines_by_purchase_order ON warehouse.return_lines (seller_id, purchase_order_id);

CREATE TABLE warehouse.return_line_tracking_statuses (
  seller_id                text    NOT NULL,
  return_order_id          text    NOT NULL,
  return_order_line_number integer NOT NULL,
  position                 integer NOT NULL,
  status                   text,
  status_time              timestamptz(3),
  current_refund_status    text,
  quantity                 integer,
  raw                      jsonb   NOT NULL,
  PRIMARY KEY (seller_id, return_order_id, return_order_line_number, position)
);

CREATE TABLE warehouse.return_line_refund_channels (
  seller_id                text    NOT NULL,
  return_order_id          text    NOT NULL,
  return_order_line_number integer NOT NULL,
  position                 integer NOT NULL,
  refund_channel_name      text,
  quantity                 integer,
  raw                      jsonb   NOT NULL,
  PRIMARY KEY (seller_id, return_order_id, return_order_line_number, position)
);

CREATE TABLE warehouse.changes (
  seq               bigint         NOT NULL PRIMARY KEY,
  seller_id         text           NOT NULL,
  type              text           NOT NULL,
  purchase_order_id text,
  line_number       text,
  return_order_id   text,
  command_id        text,
  data              jsonb          NOT NULL,
  occurred_at       timestamptz(3) NOT NULL
);
CREATE INDEX changes_by_purchase_order ON warehouse.changes (seller_id, purchase_order_id, seq) WHERE purchase_order_id IS NOT NULL;

-- ── tallyman ───────────────────────────────────────────────────────────────────────────────────────────

-- The row lock on this counter makes the numbers of warehouse.changes follow the order of commits, without gaps.
CREATE TABLE tallyman.change_counter (
  only_row boolean NOT NULL PRIMARY KEY DEFAULT true CHECK (only_row),
  last_seq bigint  NOT NULL
);
INSERT INTO tallyman.change_counter (last_seq) VALUES (0);

CREATE TABLE tallyman.sellers (
  seller_id               text           NOT NULL PRIMARY KEY,
  state                   text           NOT NULL CHECK (state IN ('active', 'stopped')),
  stopped_reason          text,
  stopped_at              timestamptz(3),
  credentials_fingerprint text,
  created_at              timestamptz(3) NOT NULL DEFAULT now(),
  updated_at              timestamptz(3) NOT NULL DEFAULT now()
);

CREATE TABLE tallyman.erp_event (
  source       text           NOT NULL,
  id           text           NOT NULL,
  sequence     bigint         GENERATED BY DEFAULT AS IDENTITY UNIQUE,
  type         text           NOT NULL,
  data         jsonb          NOT NULL,
  body_hash    bytea,
  seller_id    text,
  status       text           NOT NULL DEFAULT 'received' CHECK (status IN ('received', 'accepted', 'rejected')),
  problem      jsonb,
  received_at  timestamptz(3) NOT NULL DEFAULT now(),
  processed_at timestamptz(3),
  PRIMARY KEY (source, id)
);
CREATE INDEX erp_event_received ON tallyman.erp_event (sequence) WHERE status = 'received';
-- Every event that is accepted first looks for earlier ones of its order that still wait. Cut off, so that no row is too long for it.
CREATE INDEX erp_event_received_by_order ON tallyman.erp_event (left(btrim(data ->> 'purchaseOrderId'), 255), sequence)
  WHERE status = 'received';

CREATE FUNCTION tallyman.erp_event_notify() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('tallyman_erp_event', '');
  RETURN NULL;
END
$$;
CREATE TRIGGER erp_event_received AFTER INSERT ON tallyman.erp_event
  FOR EACH ROW WHEN (NEW.status = 'received') EXECUTE FUNCTION tallyman.erp_event_notify();

CREATE TABLE tallyman.commands (
  id                text           NOT NULL PRIMARY KEY,
  sequence          bigint         GENERATED BY DEFAULT AS IDENTITY UNIQUE,
  seller_id         text           NOT NULL,
  purchase_order_id text           NOT NULL,
  kind              text           NOT NULL,
  state             text           NOT NULL CHECK (state IN ('pending', 'sending', 'verifying', 'held', 'confirmed', 'rejected')),
  event_source      text,
  event_id          text,
  payload           jsonb          NOT NULL,
  reason            text,
  evidence          jsonb,
  attempts          integer        NOT NULL DEFAULT 0,
  next_action_at    timestamptz(3) NOT NULL DEFAULT now(),
  leased_until      timestamptz(3),
  lease_owner       text,
  created_at        timestamptz(3) NOT NULL DEFAULT now(),
  updated_at        timestamptz(3) NOT NULL DEFAULT now(),
  settled_at        timestamptz(3),
  FOREIGN KEY (event_source, event_id) REFERENCES tallyman.erp_event (source, id)
);
CREATE INDEX commands_by_purchase_order ON tallyman.commands (seller_id, purchase_order_id, sequence);
CREATE INDEX commands_open ON tallyman.commands (seller_id, purchase_order_id, sequence) WHERE state NOT IN ('confirmed', 'rejected');
CREATE INDEX commands_due ON tallyman.commands (next_action_at) WHERE state IN ('pending', 'sending', 'verifying');
CREATE INDEX commands_by_event ON tallyman.commands (event_source, event_id);
CREATE INDEX commands_by_state ON tallyman.commands (state, sequence);

CREATE TABLE tallyman.command_lines (
  command_id        text    NOT NULL REFERENCES tallyman.commands (id) ON DELETE CASCADE,
  line_number       text    NOT NULL,
  seller_id         text    NOT NULL,
  purchase_order_id text    NOT NULL,
  quantity          integer NOT NULL CHECK (quantity > 0),
  PRIMARY KEY (command_id, line_number)
);
CREATE INDEX command_lines_by_purchase_order ON tallyman.command_lines (seller_id, purchase_order_id);

CREATE TABLE tallyman.command_attempts (
  id             bigint         GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  command_id     text           NOT NULL REFERENCES tallyman.commands (id) ON DELETE CASCADE,
  attempt        integer        NOT NULL,
  correlation_id text           NOT NULL,
  request        jsonb          NOT NULL,
  baseline       jsonb          NOT NULL,
  started_at     timestamptz(3) NOT NULL DEFAULT now(),
  finished_at    timestamptz(3),
  outcome        text,
  http_status    integer,
  failure        jsonb,
  read_backs     jsonb          NOT NULL DEFAULT '[]',
  UNIQUE (command_id, attempt)
);

CREATE TABLE tallyman.command_decisions (
  id         bigint         GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  command_id text           NOT NULL REFERENCES tallyman.commands (id) ON DELETE CASCADE,
  decision   text           NOT NULL CHECK (decision IN ('retry', 'confirm', 'reject')),
  actor      text           NOT NULL,
  reason     text           NOT NULL,
  evidence   jsonb,
  decided_at timestamptz(3) NOT NULL DEFAULT now()
);
CREATE INDEX command_decisions_by_command ON tallyman.command_decisions (command_id);

CREATE TABLE tallyman.sync_states (
  seller_id       text           NOT NULL,
  resource        text           NOT NULL,
  stream          text           NOT NULL,
  watermark       timestamptz(3),
  window_from     timestamptz(3),
  window_to       timestamptz(3),
  cursor          text,
  pages           integer        NOT NULL DEFAULT 0,
  pending         jsonb          NOT NULL DEFAULT '[]',
  lease_owner     text,
  lease_fence     bigint         NOT NULL DEFAULT 0,
  lease_until     timestamptz(3),
  last_started_at timestamptz(3),
  last_success_at timestamptz(3),
  last_error      text,
  failures        integer        NOT NULL DEFAULT 0,
  totals          jsonb          NOT NULL DEFAULT '{}',
  PRIMARY KEY (seller_id, resource, stream)
);

CREATE TABLE tallyman.sync_runs (
  id          bigint         GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  seller_id   text           NOT NULL,
  resource    text           NOT NULL,
  stream      text           NOT NULL,
  window_from timestamptz(3),
  window_to   timestamptz(3),
  pages       integer        NOT NULL,
  seen        integer        NOT NULL,
  changed     integer        NOT NULL,
  quarantined integer        NOT NULL,
  started_at  timestamptz(3) NOT NULL,
  finished_at timestamptz(3) NOT NULL,
  error       text
);
CREATE INDEX sync_runs_by_stream ON tallyman.sync_runs (seller_id, resource, stream, id DESC);
CREATE INDEX sync_runs_by_time ON tallyman.sync_runs (finished_at);

CREATE TABLE tallyman.superseded_versions (
  seller_id     text           NOT NULL,
  resource      text           NOT NULL,
  record_key    text           NOT NULL,
  raw_hash      bytea          NOT NULL,
  raw           jsonb          NOT NULL,
  first_seen_at timestamptz(3) NOT NULL,
  last_seen_at  timestamptz(3) NOT NULL,
  PRIMARY KEY (seller_id, resource, record_key, raw_hash, first_seen_at)
);
COMMENT ON TABLE tallyman.superseded_versions IS 'Raw payload of every version but the current one, which stands in the record itself; last_seen_at is when the next version was first seen.';

CREATE TABLE tallyman.quarantined_records (
  id            bigint         GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  seller_id     text           NOT NULL,
  resource      text           NOT NULL,
  record_key    text,
  raw_hash      bytea          NOT NULL,
  raw_text      text           NOT NULL,
  fault         text           NOT NULL,
  state         text           NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'replayed', 'superseded')),
  seen_count    integer        NOT NULL DEFAULT 1,
  observed_at   timestamptz(3) NOT NULL,
  first_seen_at timestamptz(3) NOT NULL DEFAULT now(),
  last_seen_at  timestamptz(3) NOT NULL DEFAULT now(),
  replayed_at   timestamptz(3),
  UNIQUE (seller_id, resource, raw_hash)
);
CREATE INDEX quarantined_records_open ON tallyman.quarantined_records (id) WHERE state = 'open';

CREATE TABLE tallyman.alarms (
  id          bigint         GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  seller_id   text           NOT NULL,
  kind        text           NOT NULL,
  subject     text           NOT NULL,
  message     text           NOT NULL,
  raised_at   timestamptz(3) NOT NULL DEFAULT now(),
  resolved_at timestamptz(3)
);
CREATE UNIQUE INDEX alarms_open ON tallyman.alarms (seller_id, kind, subject) WHERE resolved_at IS NULL;
