-- Sends a new device, a removed device, and each change of its state to the event stream of operators.
CREATE OR REPLACE FUNCTION stream_device() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN NEW := OLD; END IF;
  INSERT INTO stream_events (type, data) VALUES ('devices', json_build_object('host_id', NEW.host_id,
    'items', json_build_array(device_event(NEW, (SELECT coalesce(c.vm_id, o.vm_id)
      FROM device_claims c LEFT JOIN orphans o ON o.id = c.orphan_id WHERE c.device_id = NEW.id), TG_OP = 'DELETE'))));
  RETURN NULL;
END $$;
