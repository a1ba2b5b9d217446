-- Returns the pool in which a new disk of a location is stored: the one with the most space that no volume has yet.
-- Null if the location has no storage cluster for this type of disk: then a host stores the disk. Raises SQLSTATE GC001
-- if there are pools and none has room. "allocated_gib" is as of the last look of a scheduler, so disks that are
-- created within the same seconds can exceed the limit a little.
CREATE OR REPLACE FUNCTION choose_pool(of_location text, of_type text, wanted_gib integer) RETURNS uuid
STABLE LANGUAGE plpgsql AS $$
DECLARE
  pool uuid;
BEGIN
  PERFORM FROM storage_pools WHERE location = of_location AND disk_type = of_type;
  IF NOT FOUND THEN RETURN NULL; END IF;
  SELECT id INTO pool FROM storage_pools
    WHERE location = of_location AND disk_type = of_type AND active
      AND (size_gib IS NULL OR size_gib::bigint * overcommit_percent / 100 - allocated_gib >= wanted_gib)
    ORDER BY size_gib::bigint * overcommit_percent / 100 - allocated_gib DESC NULLS LAST, id LIMIT 1;
  IF pool IS NULL THEN
    RAISE EXCEPTION 'no storage pool of % has room for % GiB', of_location, wanted_gib
      USING ERRCODE = 'GC001', DETAIL = json_build_object('location', of_location, 'disk_type', of_type, 'gib', wanted_gib);
  END IF;
  RETURN pool;
END $$;
