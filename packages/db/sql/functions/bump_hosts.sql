-- Increments the spec number of each host and marks the host as changed for placement. Locks the rows
-- in the order of host ids. Ids of hosts that no longer exist have no effect.
--
-- The desired state of a host is spread over many rows of many tables. Triggers on those tables call
-- this function, so that no code path can change what a host should do without a new spec number.
-- Every transaction takes its locks in one order: VMs by id, disks by id, hosts by id, networks by id,
-- devices by id, host_revisions by host id.
CREATE OR REPLACE FUNCTION bump_hosts(ids uuid[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  least_number bigint;
BEGIN
  IF ids IS NULL THEN RETURN; END IF;
  least_number := count_floor();
  IF cardinality(ids) > 1 THEN
    PERFORM FROM host_revisions WHERE host_id = ANY(ids) ORDER BY host_id FOR UPDATE;
  END IF;
  UPDATE host_revisions SET number = greatest(number + 1, least_number),
      own_number = greatest(number + 1, least_number), changed_xid = pg_current_xact_id()
    WHERE host_id = ANY(ids);
END $$;
