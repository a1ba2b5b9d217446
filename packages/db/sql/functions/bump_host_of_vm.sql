-- A change of a placed VM concerns its host. If a VM that is not placed is deleted, its OS disk may
-- still be on a host, which then has to remove it.
CREATE OR REPLACE FUNCTION bump_host_of_vm() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.placed THEN
    PERFORM bump_hosts(array_agg(host_id)) FROM placements WHERE vm_id = NEW.id;
  ELSIF NEW.desired_state = 'deleted' OR NEW.abandoned THEN
    PERFORM bump_hosts(array_agg(d.host_id)) FROM disks d JOIN disk_attachments a ON a.disk_id = d.id
      WHERE a.vm_id = NEW.id AND d.kind = 'os' AND d.host_id IS NOT NULL;
  END IF;
  RETURN NULL;
END $$;
