-- Returns the networks that have a firewall rule with one of these VMs as source or destination. Rules may
-- also name networks and subnets; these cannot be deleted while a rule names them.
-- Most rules name nothing, and their endpoints are not read.
CREATE OR REPLACE FUNCTION networks_with_rules_on(ids uuid[]) RETURNS SETOF uuid LANGUAGE plpgsql STABLE AS $$
BEGIN
  IF ids IS NULL THEN RETURN; END IF;
  RETURN QUERY SELECT DISTINCT r.network_id FROM firewall_rules r,
      jsonb_array_elements(r.sources || r.destinations) endpoint
    WHERE r.project_id IN (SELECT project_id FROM vms WHERE id = ANY(ids))
      AND r.names_resources
      AND endpoint ->> 'resource_id' = ANY(ids::text[]);
END $$;
