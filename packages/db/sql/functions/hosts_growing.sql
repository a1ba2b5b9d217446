-- Returns the hosts that keep one of these disks and have to grow it whenever no placed VM has it.
CREATE OR REPLACE FUNCTION hosts_growing(disk_ids uuid[]) RETURNS SETOF uuid LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN QUERY SELECT host_id FROM disks WHERE id = ANY(disk_ids) AND kind = 'data'
    AND host_id IS NOT NULL AND observed_size_gib < size_gib;
END $$;
