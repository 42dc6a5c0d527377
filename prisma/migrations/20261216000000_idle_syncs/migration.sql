-- What was left over is looked for every few seconds, among the streams of all sellers.
CREATE INDEX sync_states_left_over ON tallyman.sync_states (seller_id, resource, stream) WHERE pending <> '[]';
-- Each run writes the row of its stream twice: room for that on the same page keeps the indexes as they are.
ALTER TABLE tallyman.sync_states SET (fillfactor = 80);
-- Processes say every half minute which sellers they serve, in the row of each.
ALTER TABLE tallyman.sellers SET (fillfactor = 50);
