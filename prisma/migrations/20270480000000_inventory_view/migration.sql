-- The stock under the name of its resource: whoever knows `inventory` from the syncs looks for it by this name.
CREATE VIEW warehouse.inventory WITH (security_invoker = true) AS SELECT * FROM warehouse.stock_on_hand;
COMMENT ON VIEW warehouse.inventory IS 'The stock on hand: the same as `stock_on_hand`, under the name of the resource.';
DO $$
DECLARE
  one record;
BEGIN
  FOR one IN
    SELECT a.attname, col_description(a.attrelid, a.attnum) AS meaning
    FROM pg_attribute a WHERE a.attrelid = 'warehouse.stock_on_hand'::regclass AND a.attnum > 0 AND NOT a.attisdropped
  LOOP
    EXECUTE format('COMMENT ON COLUMN warehouse.inventory.%I IS %L', one.attname, one.meaning);
  END LOOP;
END
$$;
