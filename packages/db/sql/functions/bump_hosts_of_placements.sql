-- A VM was placed on a host, or released from it. This concerns
-- - the host itself;
-- - the host that keeps one of the VM's data disks, if the disk has to grow: the host of a placed VM
--   grows its disks, and the host that keeps a disk grows it while no placed VM has it;
-- - the host that keeps the VM's OS disk, if the VM is to be removed: the host has to remove the disk.
-- If the VM's host has an underlay address, the hosts with VMs of the same networks need a route to the
-- VM. A host without an underlay address cannot be reached by others.
CREATE OR REPLACE FUNCTION bump_hosts_of_placements() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM bump_hosts(array_agg(host_id)) FROM (
    SELECT host_id FROM changed
    UNION SELECT d.host_id FROM changed c JOIN vms v ON v.id = c.vm_id JOIN disk_attachments a ON a.vm_id = c.vm_id
      JOIN disks d ON d.id = a.disk_id
      WHERE d.host_id IS NOT NULL AND (d.kind = 'data' AND d.observed_size_gib < d.size_gib
        OR d.kind = 'os' AND (v.desired_state = 'deleted' OR v.abandoned))) concerned;
  PERFORM note_network_changes(array_agg(n.network_id)) FROM changed c
    JOIN hosts h ON h.id = c.host_id JOIN network_interfaces n ON n.vm_id = c.vm_id
    WHERE h.underlay_address IS NOT NULL;
  RETURN NULL;
END $$;
