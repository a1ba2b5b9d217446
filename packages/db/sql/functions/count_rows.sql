-- Counts the rows of a table in the quota that the trigger names.
CREATE OR REPLACE FUNCTION count_rows() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    PERFORM change_quota(NEW.project_id, TG_ARGV[0], 1);
  ELSE
    PERFORM change_quota(OLD.project_id, TG_ARGV[0], -1);
  END IF;
  RETURN NULL;
END $$;
