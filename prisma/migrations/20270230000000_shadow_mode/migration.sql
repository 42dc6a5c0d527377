-- Shadow mode: a seller is read and decided like a live one, and nothing is written. A command that would have been sent is predicted; a prediction that ended
-- before the order showed all of it is withdrawn.
ALTER TABLE tallyman.sellers
  ADD COLUMN mode text NOT NULL DEFAULT 'live' CHECK (mode IN ('live', 'shadow')),
  ADD COLUMN mode_since timestamptz(3) NOT NULL DEFAULT now(),
  ADD COLUMN mode_by text;
COMMENT ON COLUMN tallyman.sellers.mode_since IS 'When the mode began.';
COMMENT ON COLUMN tallyman.sellers.mode_by IS 'Who decided on the mode; null: the setting MODE.';

ALTER TABLE tallyman.commands DROP CONSTRAINT commands_state_check;
ALTER TABLE tallyman.commands ADD CONSTRAINT commands_state_check
  CHECK (state IN ('pending', 'sending', 'verifying', 'held', 'confirmed', 'rejected', 'predicted', 'withdrawn')) NOT VALID;
CREATE INDEX commands_predicted ON tallyman.commands (seller_id, sequence) WHERE state = 'predicted';
