-- A rule concerns every host that has a VM in the rule's network. It is in force when each of them has
-- confirmed it; firewall_rule_hosts has the hosts that have not.
--
-- A transaction that places a VM, or that gives a VM an address or removes one, holds the network's row
-- FOR SHARE. Otherwise a rule and a VM that are added at the same moment would not see each other, and
-- the VM's host would never receive the rule.
CREATE OR REPLACE FUNCTION bump_hosts_of_rule() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  concerned uuid[];
BEGIN
  PERFORM FROM networks WHERE id = NEW.network_id FOR NO KEY UPDATE;
  SELECT array_agg(DISTINCT p.host_id) INTO concerned
    FROM placements p JOIN network_interfaces n ON n.vm_id = p.vm_id WHERE n.network_id = NEW.network_id;
  PERFORM bump_hosts(concerned);
  INSERT INTO firewall_rule_hosts (rule_id, host_id, number)
    SELECT NEW.id, host_id, number FROM host_revisions WHERE host_id = ANY(concerned)
    ON CONFLICT (rule_id, host_id) DO UPDATE SET number = EXCLUDED.number;
  RETURN NULL;
END $$;
