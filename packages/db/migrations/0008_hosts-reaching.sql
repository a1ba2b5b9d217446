-- A host is told of VMs elsewhere only if it can be reached itself: where that changes, so does what it
-- is told, and its own number grows with the others.
CREATE OR REPLACE FUNCTION bump_hosts_reaching() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM bump_spanned(array_agg(met)) FROM hosts_meeting((SELECT array_agg(vm_id)
    FROM placements WHERE host_id = NEW.id)) met;
  RETURN NULL;
END $$;
