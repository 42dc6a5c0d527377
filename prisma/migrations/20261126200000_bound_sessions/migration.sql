-- Whoever is bound to sellers may become a role that is bound to none (`SET ROLE tallyman_bi`), and must not see more by that: where the role that
-- asks is bound to none, it is the login that counts. A superuser belongs to every role, and is bound by none.
CREATE OR REPLACE FUNCTION tallyman.sellers_of(reader name) RETURNS text[] LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  SELECT coalesce(
    (SELECT array_agg(DISTINCT b.seller_id) FROM tallyman.seller_roles b JOIN pg_roles r ON r.rolname = b.role
     WHERE pg_has_role(reader, r.oid, 'MEMBER')),
    (SELECT array_agg(DISTINCT b.seller_id) FROM tallyman.seller_roles b JOIN pg_roles r ON r.rolname = b.role
     WHERE pg_has_role(session_user, r.oid, 'MEMBER')
       AND NOT (SELECT s.rolsuper FROM pg_roles s WHERE s.rolname = session_user)))
$$;
COMMENT ON FUNCTION tallyman.sellers_of(name) IS
  'Sellers that a role is bound to by tallyman.seller_roles, or that the login is bound to; null: neither is bound.';
