-- What a command's evidence and its waits need: views of an order that lag behind what is known, steps that keep failing, decisions by line.

ALTER TABLE warehouse.orders ADD COLUMN behind_since timestamptz(3);
COMMENT ON COLUMN warehouse.orders.behind_since IS
  'Since then the marketplace shows fewer shipped, cancelled or refunded units than stand here; null while it does not. Believed after a day.';

ALTER TABLE tallyman.commands ADD COLUMN troubled_since timestamptz(3);
ALTER TABLE tallyman.commands ADD COLUMN troubled_looks integer NOT NULL DEFAULT 0 CHECK (troubled_looks >= 0);
ALTER TABLE tallyman.commands ADD COLUMN parts jsonb;
COMMENT ON COLUMN tallyman.commands.troubled_since IS 'Since when its next step could not be done, time after time; null while it gets on.';
COMMENT ON COLUMN tallyman.commands.troubled_looks IS 'How many tries in a row have failed since then.';
COMMENT ON COLUMN tallyman.commands.parts IS
  'What a person has decided by line: what was applied, with the order as it stood before, and what is still to be sent. Null: nothing.';

ALTER TABLE tallyman.command_decisions DROP CONSTRAINT command_decisions_decision_check;
ALTER TABLE tallyman.command_decisions ADD CONSTRAINT command_decisions_decision_check
  CHECK (decision IN ('retry', 'confirm', 'reject', 'by-line'));
ALTER TABLE tallyman.command_decisions ADD COLUMN lines jsonb;
COMMENT ON COLUMN tallyman.command_decisions.lines IS 'The verdict on each line, where the lines were decided one by one.';
