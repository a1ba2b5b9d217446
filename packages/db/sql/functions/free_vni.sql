-- Frees the VXLAN number of a deleted network, and notes the hosts that may not have accepted a spec
-- without the network yet: see take_vni.
CREATE OR REPLACE FUNCTION free_vni() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO free_vnis (vni, freed_at, host_ids, numbers)
    SELECT OLD.vni, now(), coalesce(array_agg(r.host_id), '{}'), coalesce(array_agg(r.number), '{}')
    FROM host_revisions r JOIN hosts h ON h.id = r.host_id
    WHERE h.fenced_at IS NULL AND h.accepted_number < r.number;
  RETURN NULL;
END $$;
