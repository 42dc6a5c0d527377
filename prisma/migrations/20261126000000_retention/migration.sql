-- How long data is kept: what passes over the tables remember, and what stays of rows whose bulk has gone.

-- A stretch of runs of one stream that brought nothing is one row. Its end moves with each run, which is cheap while no index holds it.
ALTER TABLE tallyman.sync_runs ADD COLUMN runs integer NOT NULL DEFAULT 1;
COMMENT ON COLUMN tallyman.sync_runs.runs IS 'How many runs the row stands for: those one after another that changed nothing are one row a day.';
DROP INDEX tallyman.sync_runs_by_time;
ALTER TABLE tallyman.sync_runs SET (fillfactor = 70);

-- Source, id and hash of an event stay for ever: the same event is known again, however late it comes.
ALTER TABLE tallyman.erp_event ADD COLUMN data_removed_at timestamptz(3);
COMMENT ON COLUMN tallyman.erp_event.data_removed_at IS 'When the data went, but for the order and the seller that it names (RETAIN_EVENTS); null: it is all there.';

CREATE TABLE tallyman.retention_passes (
  data          text           NOT NULL PRIMARY KEY,
  lease_owner   text,
  lease_until   timestamptz(3),
  due_at        timestamptz(3) NOT NULL DEFAULT now(),
  started_at    timestamptz(3),
  cutoff        timestamptz(3),
  next_page     bigint         NOT NULL DEFAULT 0,
  removed       bigint         NOT NULL DEFAULT 0,
  finished_at   timestamptz(3),
  last_removed  bigint,
  removed_up_to bigint         NOT NULL DEFAULT 0
);
COMMENT ON TABLE tallyman.retention_passes IS 'Passes that remove what is older than the settings RETAIN_… say; one row for each kind of data.';
COMMENT ON COLUMN tallyman.retention_passes.started_at IS 'When the pass under way began; null: none is. What is older than cutoff goes; pages before next_page have been looked at.';
COMMENT ON COLUMN tallyman.retention_passes.removed_up_to IS 'Of changes: the highest number that went. Every change above it is there.';
INSERT INTO tallyman.retention_passes (data) VALUES ('runs'), ('attempts'), ('versions'), ('changes'), ('events'), ('alarms'), ('quarantine'), ('log-entries');
