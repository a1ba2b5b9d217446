-- Counts images of projects and their sizes until their deletion is requested. The size of an image never changes.
CREATE OR REPLACE FUNCTION count_image() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    PERFORM change_quota(NEW.project_id, 'image_gib', NEW.size_gib);
    PERFORM change_quota(NEW.project_id, 'images', 1);
  ELSE
    PERFORM change_quota(OLD.project_id, 'image_gib', -OLD.size_gib);
    PERFORM change_quota(OLD.project_id, 'images', -1);
  END IF;
  RETURN NULL;
END $$;
