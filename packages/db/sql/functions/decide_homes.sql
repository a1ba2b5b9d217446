-- Decides that the host of a placed VM creates those of the VM's data disks that do not exist yet.
-- Raises SQLSTATE GP001 if a disk belongs to another host: then two VMs with one disk were placed at the
-- same time. A disk in a storage cluster belongs to no host.
CREATE OR REPLACE FUNCTION decide_homes(vm_ids uuid[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM disk_attachments WHERE vm_id = ANY(vm_ids) AND attachment_type = 'data';
  IF NOT FOUND THEN RETURN; END IF;
  UPDATE disks d SET home_id = p.host_id FROM placements p JOIN disk_attachments a ON a.vm_id = p.vm_id
    WHERE p.vm_id = ANY(vm_ids) AND a.attachment_type = 'data' AND d.id = a.disk_id
      AND d.host_id IS NULL AND d.home_id IS NULL AND d.pool_id IS NULL;
  PERFORM FROM placements p JOIN disk_attachments a ON a.vm_id = p.vm_id
    JOIN disks d ON d.id = a.disk_id JOIN hosts h ON h.id = p.host_id
    LEFT JOIN hosts k ON k.id = coalesce(d.host_id, d.home_id)
    WHERE p.vm_id = ANY(vm_ids) AND a.attachment_type = 'data' AND coalesce(d.host_id, d.home_id) <> p.host_id
      AND NOT (h.shared_storage AND coalesce(k.shared_storage, false));
  IF FOUND THEN
    RAISE EXCEPTION 'another host has one of the disks' USING ERRCODE = 'GP001';
  END IF;
END $$;
