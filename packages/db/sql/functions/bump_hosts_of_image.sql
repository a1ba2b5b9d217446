-- A spec contains the image of a VM until the VM's OS disk exists.
CREATE OR REPLACE FUNCTION bump_hosts_of_image() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM bump_hosts(array_agg(DISTINCT p.host_id)) FROM vms v JOIN placements p ON p.vm_id = v.id
    JOIN disk_attachments a ON a.vm_id = v.id AND a.attachment_type = 'os' JOIN disks d ON d.id = a.disk_id
    WHERE v.image_id = NEW.id AND (d.host_id IS NULL OR d.observed_size_gib IS NULL);
  RETURN NULL;
END $$;
