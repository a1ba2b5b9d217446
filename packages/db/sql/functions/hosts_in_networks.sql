-- Returns the hosts that have VMs of these networks.
--
-- The callers find the networks first, in a statement of their own. Joined with everything else, a plan
-- that was made while there were few placements read every interface of a network for each of them.
-- Usually there is no such network.
CREATE OR REPLACE FUNCTION hosts_in_networks(networks uuid[]) RETURNS SETOF uuid LANGUAGE plpgsql STABLE AS $$
BEGIN
  IF cardinality(networks) = 0 THEN RETURN; END IF;
  RETURN QUERY SELECT DISTINCT p.host_id FROM network_interfaces n JOIN placements p ON p.vm_id = n.vm_id
    WHERE n.network_id = ANY(networks);
END $$;
