-- A seller is stopped only where no other process has a token for it by other credentials.
CREATE TABLE tallyman.seller_credentials (
  process                 text           NOT NULL REFERENCES tallyman.seller_processes (process) ON DELETE CASCADE,
  seller_id               text           NOT NULL,
  credentials_fingerprint text           NOT NULL,
  is_accepted             boolean        NOT NULL,
  changed_at              timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (process, seller_id)
);
CREATE INDEX seller_credentials_of_seller ON tallyman.seller_credentials (seller_id);
COMMENT ON TABLE tallyman.seller_credentials IS 'What the marketplace said last to each process of the credentials that it has for a seller: whether they are accepted.';
