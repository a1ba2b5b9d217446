-- Counts data disks and their sizes. An OS disk belongs to its VM and is not counted.
CREATE OR REPLACE FUNCTION count_disk() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' AND NEW.kind = 'data' THEN
    PERFORM change_quota(NEW.project_id, 'disk_gib', NEW.size_gib);
    PERFORM change_quota(NEW.project_id, 'disks', 1);
  ELSIF TG_OP = 'DELETE' AND OLD.kind = 'data' THEN
    PERFORM change_quota(OLD.project_id, 'disk_gib', -OLD.size_gib);
    PERFORM change_quota(OLD.project_id, 'disks', -1);
  ELSIF TG_OP = 'UPDATE' AND NEW.kind = 'data' THEN
    PERFORM change_quota(NEW.project_id, 'disk_gib', NEW.size_gib - OLD.size_gib);
  END IF;
  RETURN NULL;
END $$;
