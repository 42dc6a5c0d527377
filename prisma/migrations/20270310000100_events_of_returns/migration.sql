-- Events of an order are listed with those of its returns, which name only the return.
CREATE INDEX erp_event_by_return ON tallyman.erp_event (left(tallyman.normal_id(data -> 'returnOrderId'), 255), sequence)
  WHERE type = 'erp.return.refunded';
