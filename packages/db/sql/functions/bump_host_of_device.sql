-- A spec lists the devices of a VM by kind. The NUMA nodes of its GPUs decide which cores and memory it gets.
CREATE OR REPLACE FUNCTION bump_host_of_device() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM bump_hosts(ARRAY[NEW.host_id]) FROM device_claims WHERE device_id = NEW.id;
  RETURN NULL;
END $$;
