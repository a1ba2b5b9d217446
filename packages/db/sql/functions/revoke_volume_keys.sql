-- Revokes the keys of a host for those of the disks that none of its VMs has attached. A scheduler removes revoked keys
-- from the cluster, and makes a new one for the next host. That ends no client that is open, so the caller has the
-- proof that the host has closed the volumes, or has fenced the host. The caller has locked the disks.
CREATE OR REPLACE FUNCTION revoke_volume_keys(disk_ids uuid[], host uuid) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  revoked_ids uuid[];
BEGIN
  WITH ended AS (UPDATE volume_keys k SET revoked = true
      WHERE k.disk_id = ANY(disk_ids) AND k.host_id = host AND NOT k.revoked
        AND NOT EXISTS (SELECT FROM disk_attachments a JOIN placements p ON p.vm_id = a.vm_id
          WHERE a.disk_id = k.disk_id AND p.host_id = host)
      RETURNING k.disk_id)
    SELECT array_agg(disk_id ORDER BY disk_id) INTO revoked_ids FROM ended;
  IF revoked_ids IS NOT NULL THEN PERFORM want_volume_keys(revoked_ids); END IF;
END $$;
