-- The host that stores a disk makes and removes the snapshots of the disk. Its spec has the order from the request until
-- the snapshot is made, has failed or is gone. They also use its space. It also sends the content of a snapshot for an image:
-- that order ends when the content has arrived, or the image has failed.
CREATE OR REPLACE FUNCTION bump_host_of_snapshot() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM bump_hosts(ARRAY[coalesce(NEW.host_id, OLD.host_id)]);
  RETURN NULL;
END $$;
