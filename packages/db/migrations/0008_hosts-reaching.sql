-- A host is told of VMs elsewhere only if it can be reached itself: where that changes, so does what it
-- is told, and its own number grows with the others. Where it is reached is the others' business alone,
-- but its number is locked with theirs, in order: what else changes of the host grows or touches it.
CREATE OR REPLACE FUNCTION bump_hosts_reaching() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  met uuid[];
BEGIN
  SELECT array_agg(host_id) INTO met FROM hosts_meeting((SELECT array_agg(vm_id)
    FROM placements WHERE host_id = NEW.id)) AS host_id;
  IF met IS NULL THEN RETURN NULL; END IF;
  PERFORM FROM host_revisions WHERE host_id = ANY(met || NEW.id) ORDER BY host_id FOR UPDATE;
  IF (OLD.underlay_address IS NULL) = (NEW.underlay_address IS NULL) THEN met := array_remove(met, NEW.id); END IF;
  PERFORM bump_spanned(met);
  RETURN NULL;
END $$;
