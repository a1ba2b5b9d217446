-- Revokes the keys of a host for those of the disks that none of its VMs has attached. A scheduler removes revoked keys
-- from the cluster. That ends no client that is open, so the caller has the proof that the host has closed the
-- volumes, or has fenced the host.
CREATE OR REPLACE FUNCTION revoke_volume_keys(disk_ids uuid[], host uuid) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE volume_keys k SET revoked = true WHERE k.disk_id = ANY(disk_ids) AND k.host_id = host AND NOT k.revoked
    AND NOT EXISTS (SELECT FROM disk_attachments a JOIN placements p ON p.vm_id = a.vm_id
      WHERE a.disk_id = k.disk_id AND p.host_id = host);
END $$;
