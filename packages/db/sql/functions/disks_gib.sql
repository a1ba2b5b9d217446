-- Returns how large all disks of a host are together: those that it stores and those that it is to create, and the
-- snapshots that it stores, each as large as its disk was. Shared
-- volumes are not counted, because their directory may be on other storage, and neither are disks in a storage
-- cluster. A deleted disk counts until its host has removed it. The OS disks that do not exist yet are looked up VM
-- by VM: as a join, PostgreSQL may read all attachments for it.
CREATE OR REPLACE FUNCTION disks_gib(host uuid) RETURNS bigint STABLE LANGUAGE plpgsql AS $$
BEGIN
  RETURN (SELECT coalesce(sum(size_gib), 0) FROM disks WHERE host_id = host AND type <> 'shared-volume')
    + (SELECT coalesce(sum(size_gib), 0) FROM disks
      WHERE home_id = host AND host_id IS NULL AND desired_state = 'present' AND type <> 'shared-volume')
    + (SELECT coalesce(sum((SELECT sum(d.size_gib) FROM disk_attachments a JOIN disks d ON d.id = a.disk_id
        WHERE a.vm_id = p.vm_id AND a.attachment_type = 'os' AND d.host_id IS NULL AND d.pool_id IS NULL)), 0)
      FROM placements p WHERE p.host_id = host)
    + (SELECT coalesce(sum(size_gib), 0) FROM snapshots WHERE host_id = host AND host_id IS NOT NULL);
END $$;
