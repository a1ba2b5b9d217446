-- A VM got an address or lost one. Its host needs a new spec, if it has one. A rule that names the VM
-- means its address, so the hosts with such rules need a new spec too. If the VM is placed on a host
-- with an underlay address, other hosts have a route to it.
CREATE OR REPLACE FUNCTION bump_hosts_of_addresses() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  ids uuid[];
  own uuid[];
  spanning uuid[];
BEGIN
  SELECT array_agg(n.vm_id), array_agg(p.host_id) FILTER (WHERE p.host_id IS NOT NULL),
      array_agg(n.network_id) FILTER (WHERE h.underlay_address IS NOT NULL) INTO ids, own, spanning
    FROM changed c JOIN network_interfaces n ON n.id = c.network_interface_id
    LEFT JOIN placements p ON p.vm_id = n.vm_id LEFT JOIN hosts h ON h.id = p.host_id;
  PERFORM bump_hosts(array_agg(host)) FROM (SELECT unnest(own) AS host UNION SELECT hosts_with_rules_on(ids)) concerned;
  PERFORM note_network_changes(spanning);
  RETURN NULL;
END $$;
