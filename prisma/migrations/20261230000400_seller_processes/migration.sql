CREATE TABLE tallyman.seller_processes (
  process    text           PRIMARY KEY,
  roles      text[]         NOT NULL,
  seller_ids text[]         NOT NULL,
  faults     text[]         NOT NULL,
  taken_at   timestamptz(3) NOT NULL,
  asked_at   timestamptz(3),
  said_at    timestamptz(3) NOT NULL
);
COMMENT ON TABLE tallyman.seller_processes IS 'The processes that share this database: which sellers each serves, when it asked the others to read theirs again, and up to when it has done so.';
