-- How a seller stands: at work, stopped because its credentials are refused, or paused by a person.
ALTER TABLE tallyman.sellers
  DROP CONSTRAINT sellers_state_check,
  ADD CONSTRAINT sellers_state_check CHECK (state IN ('active', 'stopped', 'paused')),
  ADD COLUMN paused_by text,
  ADD COLUMN resumes integer NOT NULL DEFAULT 0 CHECK (resumes >= 0),
  ADD COLUMN probe_at timestamptz(3);
COMMENT ON COLUMN tallyman.sellers.stopped_reason IS 'Why it is stopped or paused; null while it is active.';
COMMENT ON COLUMN tallyman.sellers.stopped_at IS 'Since when it is stopped or paused; null while it is active.';
COMMENT ON COLUMN tallyman.sellers.resumes IS 'How often somebody has said that it shall be tried again: what processes remember of refused credentials counts until then.';
COMMENT ON COLUMN tallyman.sellers.probe_at IS 'When a token is asked for the next time while it is stopped.';
UPDATE tallyman.sellers SET probe_at = now() WHERE state = 'stopped';
