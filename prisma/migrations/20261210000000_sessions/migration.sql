-- Sessions of people in the console. The browser holds 256 random bits; here is their SHA-256 only.
CREATE TABLE tallyman.sessions (
  token_hash text           PRIMARY KEY,
  key_id     text           NOT NULL,
  proof      text           NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  expires_at timestamptz(3) NOT NULL
);
CREATE INDEX sessions_by_key ON tallyman.sessions (key_id, created_at);
COMMENT ON COLUMN tallyman.sessions.key_id IS 'Id of the key that it was opened with, or API_KEY.';
COMMENT ON COLUMN tallyman.sessions.proof IS 'HMAC of the key''s hash under the random bits, which are not stored: the session ends with the secret of the key.';
