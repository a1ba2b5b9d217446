-- The version of the agent that hosts should run has changed, which is part of their specs.
CREATE OR REPLACE FUNCTION bump_hosts_of_rollout() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM bump_hosts(array_agg(n.host_id)) FROM changed n JOIN unchanged o USING (rollout_id, host_id)
    WHERE (n.wanted_version, n.order_id) IS DISTINCT FROM (o.wanted_version, o.order_id);
  RETURN NULL;
END $$;
