-- A host has another underlay address. All hosts with VMs of the same networks have to send packets
-- there from now on. A host learns about VMs on other hosts only if it has an underlay address, so its
-- own spec changes if it gets its first address or loses its only one.
--
-- The number of the host itself is locked together with the others, in order, because the trigger that
-- runs next touches it.
CREATE OR REPLACE FUNCTION bump_peers_of_host() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  peers uuid[];
BEGIN
  SELECT array_agg(host_id) INTO peers FROM hosts_sharing_networks((SELECT array_agg(vm_id)
    FROM placements WHERE host_id = NEW.id)) AS host_id;
  IF peers IS NULL THEN RETURN NULL; END IF;
  PERFORM FROM host_revisions WHERE host_id = ANY(peers || NEW.id) ORDER BY host_id FOR UPDATE;
  IF (OLD.underlay_address IS NULL) = (NEW.underlay_address IS NULL) THEN peers := array_remove(peers, NEW.id); END IF;
  PERFORM bump_peers(peers);
  RETURN NULL;
END $$;
