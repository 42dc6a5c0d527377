CREATE TABLE tallyman.told_limits (
  process text           PRIMARY KEY,
  limits  jsonb          NOT NULL,
  told_at timestamptz(3) NOT NULL
);
COMMENT ON TABLE tallyman.told_limits IS 'How the rate limits stand that a process uses, for people to read; nothing decides by it.';
