-- A VM got an address or lost one. A rule that names the VM means its address, so the hosts with such
-- rules need a new spec. If the VM is placed on a host with an underlay address, so do the hosts that
-- have VMs of the same networks, because they have a route to the VM.
CREATE OR REPLACE FUNCTION bump_hosts_of_addresses() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  ids uuid[];
  reachable uuid[];
BEGIN
  SELECT array_agg(n.vm_id), array_agg(n.vm_id) FILTER (WHERE h.underlay_address IS NOT NULL) INTO ids, reachable
    FROM changed c JOIN network_interfaces n ON n.id = c.network_interface_id
    LEFT JOIN placements p ON p.vm_id = n.vm_id LEFT JOIN hosts h ON h.id = p.host_id;
  PERFORM bump_hosts(array_agg(host)) FROM hosts_with_rules_on(ids) host;
  PERFORM bump_peers(array_agg(peer)) FROM hosts_sharing_networks(reachable) peer;
  RETURN NULL;
END $$;
