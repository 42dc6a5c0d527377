-- Rate limits are shared by compare-and-set: one state each, no members. An older version beside this one still uses rate_members and rate_buckets.
CREATE TABLE tallyman.rate_limits (
  name       text           PRIMARY KEY,
  version    integer        NOT NULL,
  state      text           NOT NULL CHECK (length(state) <= 2000),
  changed_at timestamptz(3) NOT NULL
) WITH (fillfactor = 50);
COMMENT ON TABLE tallyman.rate_limits IS 'The state of a rate limit that processes share through Postgres.';
