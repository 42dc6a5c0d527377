-- Logins that are bound to sellers (tallyman.seller_roles) put in and see the events of those sellers only, and their commands. The owner is not
-- asked (no FORCE); `tallyman_daemon` gets a policy of its own with its rights. An event is of the seller that was determined for it, before that of
-- the one that its data names. Both count when it is put in: what the data names goes before, and without it any only seller would be meant.
CREATE POLICY of_sellers ON tallyman.erp_event
  USING ((SELECT tallyman.sellers_of(current_user)) IS NULL
    OR coalesce(seller_id, tallyman.normal_id(data -> 'sellerId')) = ANY ((SELECT tallyman.sellers_of(current_user))::text[]))
  WITH CHECK ((SELECT tallyman.sellers_of(current_user)) IS NULL
    OR (tallyman.normal_id(data -> 'sellerId') = ANY ((SELECT tallyman.sellers_of(current_user))::text[])
      AND coalesce(seller_id = ANY ((SELECT tallyman.sellers_of(current_user))::text[]), true)));
CREATE POLICY of_sellers ON tallyman.commands
  USING ((SELECT tallyman.sellers_of(current_user)) IS NULL
    OR seller_id = ANY ((SELECT tallyman.sellers_of(current_user))::text[]));
DO $$ BEGIN
  IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'tallyman_daemon') THEN
    CREATE POLICY of_the_daemon ON tallyman.erp_event TO tallyman_daemon USING (true) WITH CHECK (true);
    CREATE POLICY of_the_daemon ON tallyman.commands TO tallyman_daemon USING (true) WITH CHECK (true);
  END IF;
END $$;
ALTER TABLE tallyman.erp_event ENABLE ROW LEVEL SECURITY;
ALTER TABLE tallyman.commands ENABLE ROW LEVEL SECURITY;
