-- Sends each change of the state of a host in a rollout to the event stream of operators.
CREATE OR REPLACE FUNCTION stream_rollout_hosts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO stream_events (type, data)
    SELECT 'rollout_host', json_build_object('rollout_id', n.rollout_id, 'host_id', n.host_id, 'wave', n.wave,
      'state', n.state, 'reason', n.reason)
    FROM changed n JOIN unchanged o USING (rollout_id, host_id) WHERE n.state <> o.state ORDER BY n.host_id;
  RETURN NULL;
END $$;
