-- A host has another underlay address. All hosts with VMs of the same networks have to send packets
-- there from now on. A host learns about VMs on other hosts only if it has an underlay address, so its
-- own spec changes if it gets its first address or loses its only one.
CREATE OR REPLACE FUNCTION bump_hosts_of_underlay() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM note_network_changes(array_agg(n.network_id)) FROM placements p
    JOIN network_interfaces n ON n.vm_id = p.vm_id WHERE p.host_id = NEW.id;
  IF (OLD.underlay_address IS NULL) <> (NEW.underlay_address IS NULL) THEN PERFORM bump_peers(ARRAY[NEW.id]); END IF;
  RETURN NULL;
END $$;
