-- How many lines the file of a report has, how many of its rows went to quarantine, and how many lines are no row of their own, by reason. Rows and
-- skipped lines are all lines of the file. Null in reports that were imported before.
ALTER TABLE warehouse.reconciliation_reports
  ADD COLUMN line_count int,
  ADD COLUMN unread_count int,
  ADD COLUMN skipped_lines jsonb;
