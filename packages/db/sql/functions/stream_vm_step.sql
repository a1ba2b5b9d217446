-- Sends a step of the VM's unfinished operation to the event stream: the VM has a host, or its host could not
-- build it and it moves to another one. The host itself is not named, because tenants read this.
CREATE OR REPLACE FUNCTION stream_vm_step() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO stream_events (project_id, type, data)
    SELECT o.project_id, 'operation', operation_event(o.id, o.name, o.resource_type, o.resource_id, o.state,
      CASE WHEN NEW.relocating THEN 'relocating' ELSE 'placed' END, NULL)
    FROM operations o WHERE o.resource_id = NEW.id AND o.state = 'IN_PROGRESS';
  RETURN NULL;
END $$;
