-- Entries of the inventory log in quarantine, now or before, by the SKU in their key: months that open ones may belong to are not compared.
CREATE INDEX quarantined_records_of_log ON tallyman.quarantined_records (seller_id, split_part(translate(record_key, '?', '/'), '/', 1))
  WHERE resource = 'inventory-log';
