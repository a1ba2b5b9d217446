-- Marks the hosts as changed for placement that have the address from which a host reaches storage clusters, or had it
-- until now: hosts with one address get no VMs with volumes, because they cannot be fenced one by one.
CREATE OR REPLACE FUNCTION touch_hosts_at_address() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  touched constant uuid[] := ARRAY(SELECT id FROM hosts WHERE storage_address IN (OLD.storage_address, NEW.storage_address)
    OR id = NEW.id);
BEGIN
  PERFORM FROM host_revisions WHERE host_id = ANY(touched) ORDER BY host_id FOR UPDATE;
  UPDATE host_revisions SET changed_xid = pg_current_xact_id()
    WHERE host_id = ANY(touched) AND changed_xid <> pg_current_xact_id();
  RETURN NULL;
END $$;
