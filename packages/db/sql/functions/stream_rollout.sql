-- Sends a new rollout and each change of its state or wave to the event stream of operators.
CREATE OR REPLACE FUNCTION stream_rollout() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO stream_events (type, data) VALUES ('rollout',
    json_build_object('id', NEW.id, 'version', NEW.version, 'state', NEW.state, 'state_reason', NEW.state_reason,
      'wave', NEW.wave));
  RETURN NULL;
END $$;
