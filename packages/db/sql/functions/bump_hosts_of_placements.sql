-- A VM was placed on a host, or released from it. This concerns
-- - the host itself;
-- - the host that keeps one of the VM's data disks, if the disk has to grow: the host of a placed VM
--   grows its disks, and the host that keeps a disk grows it while no placed VM has it;
-- - every host with VMs of the same networks, if the VM's host has an underlay address: these hosts
--   need a route to the VM. A host without an underlay address cannot be reached by others.
--
-- The caller holds the rows of the VM's networks FOR NO KEY UPDATE if the host has an underlay address.
-- Otherwise two placements at the same moment would not see each other, and neither host would learn
-- about the other's VM.
CREATE OR REPLACE FUNCTION bump_hosts_of_placements() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  own uuid[];
  peers uuid[];
BEGIN
  SELECT array_agg(host_id) INTO own FROM (
    SELECT host_id FROM changed
    UNION SELECT d.host_id FROM changed c JOIN disk_attachments a ON a.vm_id = c.vm_id
      JOIN disks d ON d.id = a.disk_id
      WHERE d.kind = 'data' AND d.host_id IS NOT NULL AND d.observed_size_gib < d.size_gib) concerned;
  SELECT array_agg(peer) INTO peers FROM hosts_sharing_networks((SELECT array_agg(c.vm_id)
    FROM changed c JOIN hosts h ON h.id = c.host_id WHERE h.underlay_address IS NOT NULL)) peer WHERE peer <> ALL(own);
  IF peers IS NOT NULL THEN
    PERFORM FROM host_revisions WHERE host_id = ANY(own || peers) ORDER BY host_id FOR UPDATE;
  END IF;
  PERFORM bump_hosts(own);
  PERFORM bump_peers(peers);
  RETURN NULL;
END $$;
