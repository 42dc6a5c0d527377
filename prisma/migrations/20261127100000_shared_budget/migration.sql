-- Rate budgets that processes share: what each bucket remembers, and which processes draw.
CREATE TABLE tallyman.rate_buckets (
  name       text           PRIMARY KEY,
  version    bigint         NOT NULL,
  memory     text           NOT NULL CHECK (length(memory) <= 2000),
  changed_at timestamptz(3) NOT NULL
);
CREATE TABLE tallyman.rate_members (
  id          text           PRIMARY KEY,
  is_sole     boolean        NOT NULL,
  drawn_until timestamptz(3) NOT NULL
);
