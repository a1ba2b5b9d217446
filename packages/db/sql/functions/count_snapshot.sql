-- Counts snapshots and the sizes of their disks. The size of a snapshot never changes.
CREATE OR REPLACE FUNCTION count_snapshot() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    PERFORM change_quota(NEW.project_id, 'snapshot_gib', NEW.size_gib);
    PERFORM change_quota(NEW.project_id, 'snapshots', 1);
  ELSE
    PERFORM change_quota(OLD.project_id, 'snapshot_gib', -OLD.size_gib);
    PERFORM change_quota(OLD.project_id, 'snapshots', -1);
  END IF;
  RETURN NULL;
END $$;
