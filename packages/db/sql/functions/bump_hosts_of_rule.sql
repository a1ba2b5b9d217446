-- A rule concerns every host that has a VM in the rule's network. It is in force when each of them has
-- confirmed it; firewall_rule_hosts has the hosts that have not.
--
-- A transaction that places a VM, or that gives a VM an address or removes one, holds the network's row
-- FOR SHARE. Otherwise a rule and a VM that are added at the same moment would not see each other, and
-- the VM's host would never receive the rule.
--
-- The network may have hundreds of hosts. A transaction that holds the locks of some of them while it waits
-- for another one would stop the VMs of other tenants on all of them. So if one lock is not free, all are
-- given back for a moment. After some seconds it waits for them in order.
CREATE OR REPLACE FUNCTION bump_hosts_of_rule() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  attempts constant int := 500;
  concerned uuid[];
BEGIN
  FOR attempt IN 1..attempts LOOP
    -- The locks are given back with the subtransaction of this block.
    BEGIN
      PERFORM FROM networks WHERE id = NEW.network_id FOR NO KEY UPDATE NOWAIT;
      concerned := ARRAY(SELECT hosts_in_networks(ARRAY[NEW.network_id]));
      PERFORM FROM host_revisions WHERE host_id = ANY(concerned) ORDER BY host_id FOR UPDATE NOWAIT;
      EXIT;
    EXCEPTION WHEN lock_not_available THEN
      PERFORM pg_sleep(0.002 + 0.008 * random());
    END;
    IF attempt = attempts THEN
      PERFORM FROM networks WHERE id = NEW.network_id FOR NO KEY UPDATE;
      concerned := ARRAY(SELECT hosts_in_networks(ARRAY[NEW.network_id]));
    END IF;
  END LOOP;
  PERFORM bump_peers(concerned);
  INSERT INTO firewall_rule_hosts (rule_id, host_id, number)
    SELECT NEW.id, host_id, number FROM host_revisions WHERE host_id = ANY(concerned)
    ON CONFLICT (rule_id, host_id) DO UPDATE SET number = EXCLUDED.number;
  RETURN NULL;
END $$;
