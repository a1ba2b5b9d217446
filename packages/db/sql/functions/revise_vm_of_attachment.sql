-- An attachment that is added or has to be removed is a new revision of a placed VM. The row itself is
-- deleted after the host has detached the disk, which is no change for the host.
CREATE OR REPLACE FUNCTION revise_vm_of_attachment() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE vms SET revision = greatest(revision + 1, count_floor()) WHERE id = NEW.vm_id AND placed;
  RETURN NULL;
END $$;
