-- The spec of a host contains all subnets of its networks, also those in which it has no VM.
CREATE OR REPLACE FUNCTION bump_hosts_of_subnets() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM networks WHERE id IN (SELECT network_id FROM changed) ORDER BY id FOR NO KEY UPDATE;
  PERFORM bump_peers(array_agg(DISTINCT p.host_id)) FROM network_interfaces n JOIN placements p ON p.vm_id = n.vm_id
    WHERE n.network_id IN (SELECT network_id FROM changed);
  RETURN NULL;
END $$;
