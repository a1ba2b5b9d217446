-- A VM got an address or lost one. Its host needs a new spec, if it has one. A rule that names the VM
-- means its address, so the hosts with such rules need a new spec too. If the VM is placed on a host
-- with an underlay address, other hosts have a route to it.
-- Rows are found by arrays of keys. A join may keep a plan that reads the whole of a table that has grown since.
CREATE OR REPLACE FUNCTION bump_hosts_of_addresses() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  interfaces constant uuid[] := ARRAY(SELECT network_interface_id FROM changed);
  vm_ids constant uuid[] := ARRAY(SELECT vm_id FROM network_interfaces WHERE id = ANY(interfaces));
  own constant uuid[] := ARRAY(SELECT host_id FROM placements WHERE vm_id = ANY(vm_ids));
  naming constant uuid[] := networks_naming_vms(vm_ids);
BEGIN
  IF own <> '{}' OR naming <> '{}' THEN
    PERFORM bump_hosts(array_agg(host))
      FROM (SELECT unnest(own) AS host UNION SELECT hosts_in_networks(naming)) concerned;
  END IF;
  IF own <> '{}' THEN
    PERFORM note_network_changes(array_agg(n.network_id)) FROM network_interfaces n
      JOIN placements p ON p.vm_id = n.vm_id JOIN hosts h ON h.id = p.host_id
      WHERE n.id = ANY(interfaces) AND h.underlay_address IS NOT NULL;
  END IF;
  RETURN NULL;
END $$;
