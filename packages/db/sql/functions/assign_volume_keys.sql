-- Assigns a key to the host of each placed VM for each volume that the VM has attached. A key is assigned to one host
-- only, so that a host never has the key of a volume whose VM is elsewhere. Returns whether every volume has one;
-- for those that have none, a scheduler makes a key and calls this again. If other VMs have the disk too, another key
-- is made in advance for them. The caller has locked the VMs and the disks.
CREATE OR REPLACE FUNCTION assign_volume_keys(vm_ids uuid[]) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  wanted record;
  complete boolean := true;
BEGIN
  FOR wanted IN SELECT DISTINCT d.id AS disk_id, p.host_id FROM placements p
      JOIN disk_attachments a ON a.vm_id = p.vm_id JOIN disks d ON d.id = a.disk_id
      WHERE p.vm_id = ANY(vm_ids) AND a.desired_state = 'attached' AND d.pool_id IS NOT NULL
        AND NOT EXISTS (SELECT FROM volume_keys k
          WHERE k.disk_id = d.id AND k.host_id = p.host_id AND NOT k.revoked)
      ORDER BY d.id LOOP
    UPDATE volume_keys SET host_id = wanted.host_id WHERE entity = (SELECT entity FROM volume_keys
      WHERE disk_id = wanted.disk_id AND host_id IS NULL AND NOT revoked ORDER BY entity LIMIT 1 FOR UPDATE);
    IF FOUND THEN
      UPDATE disks SET wants_key = true WHERE id = wanted.disk_id AND NOT wants_key
        AND (SELECT count(*) > 1 FROM disk_attachments WHERE disk_id = wanted.disk_id)
        AND NOT EXISTS (SELECT FROM volume_keys WHERE disk_id = wanted.disk_id AND host_id IS NULL AND NOT revoked);
      CONTINUE;
    END IF;
    complete := false;
    UPDATE disks SET wants_key = true WHERE id = wanted.disk_id AND NOT wants_key;
  END LOOP;
  RETURN complete;
END $$;
