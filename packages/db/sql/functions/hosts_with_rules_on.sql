-- Returns the hosts that have a firewall rule with one of these VMs as source or destination.
CREATE OR REPLACE FUNCTION hosts_with_rules_on(ids uuid[]) RETURNS SETOF uuid LANGUAGE plpgsql STABLE AS $$
DECLARE
  naming constant uuid[] := networks_naming_vms(ids);
BEGIN
  IF naming = '{}' THEN RETURN; END IF;
  RETURN QUERY SELECT hosts_in_networks(naming);
END $$;
