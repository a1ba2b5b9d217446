-- The disk of a volume no longer exists. A scheduler removes the volume and its keys from the cluster.
CREATE OR REPLACE FUNCTION discard_volume() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO discarded_volumes (disk_id, pool_id) VALUES (OLD.id, OLD.pool_id);
  UPDATE volume_keys SET revoked = true WHERE disk_id = OLD.id AND NOT revoked;
  RETURN NULL;
END $$;
