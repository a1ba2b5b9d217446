-- An operator has decided to delete an orphan: its host has to take it down. Or the orphan is gone.
CREATE OR REPLACE FUNCTION bump_host_of_orphan() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM bump_hosts(ARRAY[OLD.host_id]);
  RETURN NULL;
END $$;
