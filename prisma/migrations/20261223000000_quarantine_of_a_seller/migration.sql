-- How many records of a seller are open is asked for each seller of a list.
CREATE INDEX quarantined_records_open_by_seller ON tallyman.quarantined_records (seller_id) WHERE state = 'open';
