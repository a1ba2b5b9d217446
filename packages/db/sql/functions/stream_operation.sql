-- Sends the first and the last step of an operation to the event stream.
CREATE OR REPLACE FUNCTION stream_operation() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO stream_events (project_id, type, data) VALUES (NEW.project_id, 'operation',
    operation_event(NEW.id, NEW.name, NEW.resource_type, NEW.resource_id, NEW.state,
      CASE NEW.state WHEN 'IN_PROGRESS' THEN 'requested' ELSE 'ended' END, NEW.result));
  RETURN NULL;
END $$;
