-- Reports that the marketplace generates on request take up to an hour: the request is stored, so that a restart neither loses nor repeats it.
CREATE TABLE tallyman.report_requests (
  seller_id    text           NOT NULL,
  month        date           NOT NULL,
  request_id   text           NOT NULL,
  requested_at timestamptz(3) NOT NULL,
  checked_at   timestamptz(3),
  PRIMARY KEY (seller_id, month)
);
COMMENT ON TABLE tallyman.report_requests IS 'A report that the marketplace generates on request, until it is downloaded or the request has failed.';
COMMENT ON COLUMN tallyman.report_requests.request_id IS 'The marketplace''s id of the request.';
COMMENT ON COLUMN tallyman.report_requests.requested_at IS 'On the marketplace''s clock.';
COMMENT ON COLUMN tallyman.report_requests.checked_at IS 'When its progress was last read, on the marketplace''s clock.';
