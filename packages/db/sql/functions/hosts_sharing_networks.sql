-- Returns the hosts that have VMs of the networks that these VMs are in.
CREATE OR REPLACE FUNCTION hosts_sharing_networks(ids uuid[]) RETURNS SETOF uuid LANGUAGE plpgsql STABLE AS $$
BEGIN
  IF ids IS NULL THEN RETURN; END IF;
  RETURN QUERY SELECT hosts_in_networks(ARRAY(SELECT DISTINCT network_id FROM network_interfaces WHERE vm_id = ANY(ids)));
END $$;
