-- The NUMA nodes of a VM's GPUs decide which cores and memory the VM gets.
CREATE OR REPLACE FUNCTION bump_host_of_gpu() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM bump_hosts(ARRAY[NEW.host_id]) FROM gpu_claims WHERE gpu_id = NEW.id;
  RETURN NULL;
END $$;
