-- Returns what the event stream sends about an operation. It gets columns and not the row, because PostgreSQL
-- would decompress the whole row, with its request, for each call.
CREATE OR REPLACE FUNCTION operation_event(id uuid, name text, resource_type text, resource_id uuid, state text,
  step text, result json) RETURNS json LANGUAGE sql STABLE AS $$
  SELECT json_build_object('operation_id', id, 'operation_name', name, 'resource_type', resource_type,
    'resource_id', resource_id, 'state', state, 'step', step,
    'code', CASE state WHEN 'FAILED' THEN coalesce(result ->> 'code', '') ELSE '' END,
    'message', CASE state WHEN 'FAILED' THEN coalesce(result ->> 'message', '') ELSE '' END)
$$;
