-- Returns the networks that have a firewall rule with one of these VMs as source or destination. Rules may
-- also name networks and subnets; these cannot be deleted while a rule names them.
-- It returns an array and not rows, because PL/pgSQL then assigns the result without a query.
CREATE OR REPLACE FUNCTION networks_naming_vms(ids uuid[]) RETURNS uuid[] LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN ARRAY(SELECT DISTINCT r.network_id FROM firewall_rules r
    WHERE r.project_id IN (SELECT project_id FROM vms WHERE id = ANY(ids)) AND r.names_resources
      AND jsonb_path_query_array(r.sources || r.destinations, '$[*].resource_id') ?| ids::text[]);
END $$;
