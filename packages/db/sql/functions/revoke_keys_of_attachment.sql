-- A disk was detached from a VM.
CREATE OR REPLACE FUNCTION revoke_keys_of_attachment() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM revoke_volume_keys(ARRAY[OLD.disk_id], host_id) FROM placements WHERE vm_id = OLD.vm_id;
  RETURN NULL;
END $$;
