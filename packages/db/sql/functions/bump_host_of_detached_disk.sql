-- If a disk that has to grow is detached, the host that keeps it has to grow it.
CREATE OR REPLACE FUNCTION bump_host_of_detached_disk() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM bump_hosts(ARRAY[keeper]) FROM hosts_growing(ARRAY[OLD.disk_id]) keeper;
  RETURN NULL;
END $$;
