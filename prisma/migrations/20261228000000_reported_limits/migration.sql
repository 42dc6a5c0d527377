CREATE TABLE tallyman.reported_limits (
  process     text           PRIMARY KEY,
  limits      jsonb          NOT NULL,
  reported_at timestamptz(3) NOT NULL
);
COMMENT ON TABLE tallyman.reported_limits IS 'How the rate limits stand that a process uses, for people to read; nothing decides by it.';
