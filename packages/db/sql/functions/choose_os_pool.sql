-- Returns the pool in which a new OS disk is stored. A disk with an image of a project is a clone of the image's volume, so
-- it is stored in the image's pool. If the image store has the image, a host fetches it and stores the disk: NULL. Raises
-- SQLSTATE GC001 as choose_pool does.
CREATE OR REPLACE FUNCTION choose_os_pool(of_image uuid, of_location text, wanted_gib integer) RETURNS uuid
STABLE LANGUAGE plpgsql AS $$
DECLARE
  of_pool uuid;
BEGIN
  SELECT pool_id INTO of_pool FROM custom_images WHERE id = of_image;
  IF NOT FOUND THEN RETURN choose_pool(of_location, 'persistent-ssd', wanted_gib); END IF;
  IF of_pool IS NULL THEN RETURN NULL; END IF;
  PERFORM FROM storage_pools WHERE id = of_pool AND active
    AND (size_gib IS NULL OR size_gib::bigint * overcommit_percent / 100 - allocated_gib >= wanted_gib);
  IF NOT FOUND THEN
    RAISE EXCEPTION 'the storage pool of the image has no room for % GiB', wanted_gib
      USING ERRCODE = 'GC001', DETAIL = json_build_object('location', of_location, 'disk_type', 'persistent-ssd', 'gib', wanted_gib);
  END IF;
  RETURN of_pool;
END $$;
