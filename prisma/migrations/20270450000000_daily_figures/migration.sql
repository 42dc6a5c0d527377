-- Figures by day, for the trends of the console. They are computed once: counting a quarter of orders for each view would take seconds.
CREATE TABLE tallyman.daily_figures (
  seller_id  text        NOT NULL,
  day        date        NOT NULL,
  figure     text        NOT NULL,
  part       text        NOT NULL DEFAULT '',
  total      numeric     NOT NULL,
  weight     numeric     NOT NULL DEFAULT 1,
  changed_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (figure, seller_id, part, day)
);
COMMENT ON TABLE tallyman.daily_figures IS 'Figures of a seller by day in the time zone BI_TIME_ZONE, for trends. Kept for 400 days.';
COMMENT ON COLUMN tallyman.daily_figures.seller_id IS 'The seller; empty: all sellers together.';
COMMENT ON COLUMN tallyman.daily_figures.figure IS 'Which figure, such as orders or hours-to-ship.';
COMMENT ON COLUMN tallyman.daily_figures.part IS 'What the figure is of: a currency, or the resource of a sync; empty: nothing in particular.';
COMMENT ON COLUMN tallyman.daily_figures.total IS 'The sum. The figure is total divided by weight.';
COMMENT ON COLUMN tallyman.daily_figures.weight IS 'Of how many the sum is: units of a share or a mean. 1: the figure is a sum.';
