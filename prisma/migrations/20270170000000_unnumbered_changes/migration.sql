-- Changes are numbered after their transaction has committed, so that transactions commit side by side. The numbers go on at tallyman.change_counter.
CREATE TABLE tallyman.unnumbered_changes (
  id          bigint         GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  occurred_at timestamptz(3) NOT NULL DEFAULT now(),
  changes     jsonb          NOT NULL
);
COMMENT ON TABLE tallyman.unnumbered_changes IS 'What transactions have recorded since the last numbering, one row for each transaction; it moves to warehouse.changes within a second.';
COMMENT ON COLUMN tallyman.unnumbered_changes.id IS 'The order of insertion. Two transactions that change the same order follow one another under its row lock.';
