-- The NUMA nodes of a VM's GPUs decide which cores and memory the VM gets.
CREATE OR REPLACE FUNCTION bump_host_of_device() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM bump_hosts(ARRAY[NEW.host_id]) FROM device_claims WHERE device_id = NEW.id;
  RETURN NULL;
END $$;
