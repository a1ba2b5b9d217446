-- VMs were released from their hosts.
CREATE OR REPLACE FUNCTION revoke_keys_of_placements() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM revoke_volume_keys(array_agg(a.disk_id), c.host_id) FROM changed c
    JOIN disk_attachments a ON a.vm_id = c.vm_id GROUP BY c.host_id;
  RETURN NULL;
END $$;
