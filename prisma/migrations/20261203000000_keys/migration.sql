-- Keys of programs and people. A key is `tly_<id>_<secret>`; of the whole text only its SHA-256 is kept.
CREATE TABLE tallyman.api_keys (
  id             text           PRIMARY KEY,
  name           text           NOT NULL,
  scopes         text[]         NOT NULL CHECK (cardinality(scopes) > 0 AND scopes <@ ARRAY['read', 'events:write', 'operate']),
  all_sellers    boolean        NOT NULL,
  seller_ids     text[]         NOT NULL DEFAULT '{}',
  secret_hash    text           NOT NULL,
  previous_hash  text,
  previous_until timestamptz(3),
  created_at     timestamptz(3) NOT NULL DEFAULT now(),
  created_by     text           NOT NULL,
  rotated_at     timestamptz(3),
  last_used_at   timestamptz(3),
  revoked_at     timestamptz(3),
  CHECK (all_sellers = (cardinality(seller_ids) = 0)),
  CHECK ((previous_hash IS NULL) = (previous_until IS NULL))
);
-- A name says in the audit who acted, so at any time it belongs to one key.
CREATE UNIQUE INDEX api_keys_by_name ON tallyman.api_keys (name) WHERE revoked_at IS NULL;
COMMENT ON COLUMN tallyman.api_keys.previous_hash IS 'Of the secret before the last rotation, which is accepted until previous_until.';
COMMENT ON COLUMN tallyman.api_keys.last_used_at IS 'Written at most once a minute.';

-- Every act of a person, not only erasures.
ALTER TABLE tallyman.audit_entries ADD COLUMN key_id text, ADD COLUMN on_behalf_of text;
CREATE INDEX audit_entries_by_seller ON tallyman.audit_entries (seller_id, id);
CREATE INDEX audit_entries_by_actor ON tallyman.audit_entries (actor, id);
COMMENT ON COLUMN tallyman.audit_entries.actor IS 'Name of the key; of API_KEY, and where no key is needed, who the client says it is.';
COMMENT ON COLUMN tallyman.audit_entries.key_id IS 'Id of the key, or API_KEY; null: no key was needed.';
COMMENT ON COLUMN tallyman.audit_entries.on_behalf_of IS 'For whom the holder of a key says it acts.';
