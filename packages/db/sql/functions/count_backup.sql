-- Counts backups and the sizes of their disks. The size of a backup's disk never changes.
CREATE OR REPLACE FUNCTION count_backup() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    PERFORM change_quota(NEW.project_id, 'backup_gib', NEW.size_gib);
    PERFORM change_quota(NEW.project_id, 'backups', 1);
  ELSE
    PERFORM change_quota(OLD.project_id, 'backup_gib', -OLD.size_gib);
    PERFORM change_quota(OLD.project_id, 'backups', -1);
  END IF;
  RETURN NULL;
END $$;
