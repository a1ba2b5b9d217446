-- Increments the spec number of hosts that only have to learn about a VM on another host. Placement
-- does not have to read these hosts again, so changed_xid and own_number stay.
CREATE OR REPLACE FUNCTION bump_peers(ids uuid[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF ids IS NULL THEN RETURN; END IF;
  PERFORM FROM host_revisions WHERE host_id = ANY(ids) ORDER BY host_id FOR UPDATE;
  UPDATE host_revisions SET number = number + 1, peers_xid = pg_current_xact_id() WHERE host_id = ANY(ids);
END $$;
