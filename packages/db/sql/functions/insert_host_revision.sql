-- Gives a new host its first spec number.
CREATE OR REPLACE FUNCTION insert_host_revision() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO host_revisions (host_id) VALUES (NEW.id);
  RETURN NULL;
END $$;
