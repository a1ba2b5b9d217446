-- Returns the hosts that have a firewall rule with one of these VMs as source or destination.
CREATE OR REPLACE FUNCTION hosts_with_rules_on(ids uuid[]) RETURNS SETOF uuid LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN QUERY SELECT hosts_in_networks(ARRAY(SELECT networks_with_rules_on(ids)));
END $$;
