-- Marks a host as changed for placement. What the host should do has not changed.
CREATE OR REPLACE FUNCTION touch_host() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  touched uuid;
BEGIN
  IF TG_TABLE_NAME = 'hosts' THEN
    touched := NEW.id;
  ELSIF TG_OP = 'DELETE' THEN
    touched := OLD.host_id;
  ELSE
    touched := NEW.host_id;
  END IF;
  UPDATE host_revisions SET changed_xid = pg_current_xact_id()
    WHERE host_id = touched AND changed_xid <> pg_current_xact_id();
  RETURN NULL;
END $$;
