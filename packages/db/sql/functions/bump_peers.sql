-- Increments the spec number of hosts that only have to learn something about their networks. Placement
-- does not have to read these hosts again, so changed_xid and own_number stay.
CREATE OR REPLACE FUNCTION bump_peers(ids uuid[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  least_number bigint;
BEGIN
  IF ids IS NULL THEN RETURN; END IF;
  least_number := count_floor();
  PERFORM FROM host_revisions WHERE host_id = ANY(ids) ORDER BY host_id FOR UPDATE;
  UPDATE host_revisions SET number = greatest(number + 1, least_number), peers_xid = pg_current_xact_id() WHERE host_id = ANY(ids);
END $$;
