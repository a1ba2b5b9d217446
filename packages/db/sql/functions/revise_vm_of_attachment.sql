-- An attachment that is added or has to be removed is a new revision of a placed VM. The row itself is
-- deleted after the host has detached the disk, which is no change for the host. If the disk has yet to
-- grow, the host of the VM grows it from now on, and the host that keeps the disk does not. If another VM has the only
-- key of the disk's volume, this one needs another. The caller has locked the disk.
CREATE OR REPLACE FUNCTION revise_vm_of_attachment() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' AND NEW.attachment_type = 'data' THEN
    PERFORM bump_hosts(ARRAY[p.host_id, keeper]) FROM placements p, hosts_growing(ARRAY[NEW.disk_id]) keeper
      WHERE p.vm_id = NEW.vm_id;
    PERFORM want_volume_keys(ARRAY[NEW.disk_id]);
  END IF;
  UPDATE vms SET revision = greatest(revision + 1, count_floor()) WHERE id = NEW.vm_id AND placed;
  RETURN NULL;
END $$;
