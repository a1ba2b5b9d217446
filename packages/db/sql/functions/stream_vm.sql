-- Sends a new VM, a removed VM, and each change of its state or name to the event stream.
CREATE OR REPLACE FUNCTION stream_vm() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN NEW := OLD; END IF;
  INSERT INTO stream_events (project_id, type, data) VALUES (NEW.project_id, 'vm',
    json_build_object('id', NEW.id, 'name', NEW.name, 'state', NEW.state, 'deleted', TG_OP = 'DELETE'));
  RETURN NULL;
END $$;
