-- Counts VMs and the GPUs of their types.
CREATE OR REPLACE FUNCTION count_vm() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    PERFORM change_quota(NEW.project_id, 'gpus', (SELECT gpu_count FROM vm_types WHERE name = NEW.type));
    PERFORM change_quota(NEW.project_id, 'vms', 1);
  ELSIF TG_OP = 'DELETE' THEN
    PERFORM change_quota(OLD.project_id, 'gpus', -(SELECT gpu_count FROM vm_types WHERE name = OLD.type));
    PERFORM change_quota(OLD.project_id, 'vms', -1);
  ELSE
    PERFORM change_quota(NEW.project_id, 'gpus',
      (SELECT gpu_count FROM vm_types WHERE name = NEW.type) - (SELECT gpu_count FROM vm_types WHERE name = OLD.type));
  END IF;
  RETURN NULL;
END $$;
