-- Refresh tokens of sellers of a solution provider: a replaced one is stored encrypted, and one process at a time uses it.
CREATE TABLE tallyman.refresh_tokens (
  seller_id              text           NOT NULL,
  configured_fingerprint text           NOT NULL,
  encrypted_token        bytea,
  version                integer        NOT NULL DEFAULT 0,
  stored_at              timestamptz(3),
  lease_id               text,
  lease_until            timestamptz(3),
  used_at                timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (seller_id, configured_fingerprint)
);
COMMENT ON TABLE tallyman.refresh_tokens IS 'The refresh token that has replaced the configured one of a seller, encrypted, and the lease of the process that uses it.';
