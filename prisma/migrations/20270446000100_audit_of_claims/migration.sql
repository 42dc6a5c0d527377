-- Reports, the log and deadlines withdraw claims, let them expire and open them again. The audit has these changes too, whichever statement makes them.
CREATE FUNCTION tallyman.audit_claims() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO tallyman.audit_entries (actor, action, seller_id, subject, details)
  VALUES (NEW.state_by, 'claim.decided', NEW.seller_id, NEW.id::text,
    jsonb_build_object('from', OLD.state, 'to', NEW.state, 'units', NEW.units));
  RETURN NULL;
END $$;
CREATE TRIGGER audit_claims AFTER UPDATE ON warehouse.claims FOR EACH ROW
  WHEN (OLD.state IS DISTINCT FROM NEW.state AND NEW.state_by = 'report'
    AND (NEW.state IN ('expired', 'withdrawn') OR OLD.state IN ('expired', 'withdrawn')))
  EXECUTE FUNCTION tallyman.audit_claims();
