-- Sets whether the rule names other resources. Placements look for the rules that name a VM, and must not
-- have to read all endpoints of all rules of its project.
CREATE OR REPLACE FUNCTION note_named_resources() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.names_resources := jsonb_path_exists(NEW.sources || NEW.destinations, '$[*] ? (@.resource_id != "")');
  RETURN NEW;
END $$;
