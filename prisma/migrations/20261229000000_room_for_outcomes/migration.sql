-- Each attempt is written twice: when its request is about to leave, and when it has ended. The second version finds room on the page of the first, so
-- that no index is written for it. Holds for new pages only; others get room as their rows are removed.
ALTER TABLE tallyman.command_attempts SET (fillfactor = 70);
