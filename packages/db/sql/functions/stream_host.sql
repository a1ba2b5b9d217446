-- Sends a new host, a removed host, and each change of its states to the event stream of operators.
CREATE OR REPLACE FUNCTION stream_host() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN NEW := OLD; END IF;
  INSERT INTO stream_events (type, data) VALUES ('host',
    json_build_object('id', NEW.id, 'name', NEW.name, 'location', NEW.location, 'state', NEW.state,
      'admin_state', NEW.admin_state, 'connected', NEW.scheduler_id IS NOT NULL, 'trouble', NEW.trouble,
      'drift', to_json(NEW.drift), 'deleted', TG_OP = 'DELETE'));
  RETURN NULL;
END $$;
