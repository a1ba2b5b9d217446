-- Locks those of the VMs that still need a host and have the same generation as when it was decided.
-- Returns their ids. VMs that another transaction has locked are skipped.
CREATE OR REPLACE FUNCTION lock_unplaced_vms(ids uuid[], generations bigint[]) RETURNS uuid[] LANGUAGE plpgsql AS $$
BEGIN
  RETURN ARRAY(SELECT locked.id FROM (SELECT id, generation FROM vms WHERE id = ANY(ids)
        AND desired_state = 'running' AND NOT placed AND NOT abandoned AND observed_generation < generation
      ORDER BY id FOR UPDATE SKIP LOCKED) locked
    JOIN unnest(ids, generations) AS decided (id, generation) USING (id, generation));
END $$;
