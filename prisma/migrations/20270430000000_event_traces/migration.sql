-- The trace in which an event was posted that could not be decided at once (W3C trace context, as JSON).
ALTER TABLE tallyman.erp_event ADD COLUMN trace text;
