-- The host of an orphan that is being deleted has to clean another device of it. An operator may decide to
-- delete the orphan at the same moment, so its row is locked before the decision is read.
CREATE OR REPLACE FUNCTION bump_host_of_orphan_device() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM orphans WHERE id = NEW.orphan_id FOR SHARE;
  PERFORM bump_hosts(ARRAY[host_id]) FROM orphans WHERE id = NEW.orphan_id AND decision = 'delete';
  RETURN NULL;
END $$;
