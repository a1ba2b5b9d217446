-- A change of a placed VM concerns its host. If a VM that is not placed is to be removed, or is to be kept
-- after all, it concerns the host that keeps its OS disk. A fence may give the disk to another host at the same
-- moment, so the disk is locked before its host is read.
CREATE OR REPLACE FUNCTION bump_host_of_vm() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  os_disks uuid[];
BEGIN
  IF NEW.placed THEN
    PERFORM bump_hosts(array_agg(host_id)) FROM placements WHERE vm_id = NEW.id;
  ELSIF (NEW.desired_state = 'deleted' OR NEW.abandoned) <> (OLD.desired_state = 'deleted' OR OLD.abandoned) THEN
    os_disks := ARRAY(SELECT d.id FROM disks d JOIN disk_attachments a ON a.disk_id = d.id
      WHERE a.vm_id = NEW.id AND d.kind = 'os' AND d.host_id IS NOT NULL FOR NO KEY UPDATE OF d);
    PERFORM bump_hosts(array_agg(host_id)) FROM disks WHERE id = ANY(os_disks) AND host_id IS NOT NULL;
  END IF;
  RETURN NULL;
END $$;
