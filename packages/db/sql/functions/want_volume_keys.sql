-- Requests a key for those of the disks whose volume has no key that a host could get. A scheduler makes it in advance, so
-- that the next attachment or start does not wait for the cluster. The caller has locked the disks.
CREATE OR REPLACE FUNCTION want_volume_keys(disk_ids uuid[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE disks d SET wants_key = true WHERE d.id = ANY(disk_ids) AND d.pool_id IS NOT NULL AND NOT d.wants_key
    AND d.desired_state = 'present'
    AND NOT EXISTS (SELECT FROM volume_keys k WHERE k.disk_id = d.id AND k.host_id IS NULL AND NOT k.revoked)
    AND NOT (d.kind = 'os' AND EXISTS (SELECT FROM disk_attachments a JOIN vms v ON v.id = a.vm_id
      WHERE a.disk_id = d.id AND (v.desired_state = 'deleted' OR v.abandoned)));
END $$;
