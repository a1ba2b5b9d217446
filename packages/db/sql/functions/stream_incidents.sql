-- Sends new rows of the table events to the event stream.
CREATE OR REPLACE FUNCTION stream_incidents() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO stream_events (project_id, type, data)
    SELECT project_id, 'event', json_build_object('id', id, 'type', type, 'message', message,
      'resource_type', resource_type, 'resource_id', resource_id) FROM added ORDER BY id;
  RETURN NULL;
END $$;
