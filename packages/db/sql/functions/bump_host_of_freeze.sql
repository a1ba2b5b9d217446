-- The host of a VM freezes its guest while a snapshot is made, and thaws it afterwards. The spec of the host has the
-- order from the request until the snapshot is made or has failed.
CREATE OR REPLACE FUNCTION bump_host_of_freeze() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM bump_hosts(array_agg(host_id)) FROM placements WHERE vm_id = NEW.freeze_vm_id;
  RETURN NULL;
END $$;
