-- If a disk that has to grow is detached, the host that keeps it has to grow it.
CREATE OR REPLACE FUNCTION bump_host_of_detached_disk() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM bump_hosts(array_agg(host_id)) FROM disks WHERE id = OLD.disk_id AND kind = 'data'
    AND host_id IS NOT NULL AND observed_size_gib < size_gib;
  RETURN NULL;
END $$;
