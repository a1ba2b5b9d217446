-- A host's wanted state is many rows of many tables. Its number grows where those rows change, so
-- that no path can change what a host should do and forget to say so. Locks are taken in one order
-- everywhere: VMs by id, then hosts by id.

-- Grows the number of each host, locking them in order. Ids of hosts that are gone do nothing.
CREATE FUNCTION bump_hosts(ids uuid[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF ids IS NULL THEN RETURN; END IF;
  IF cardinality(ids) > 1 THEN
    PERFORM FROM host_revisions WHERE host_id = ANY(ids) ORDER BY host_id FOR UPDATE;
  END IF;
  UPDATE host_revisions SET number = number + 1, changed_xid = pg_current_xact_id()
    WHERE host_id = ANY(ids);
END $$;
--> statement-breakpoint
-- What placement looks at has changed; what the host should do has not.
CREATE FUNCTION touch_host() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  touched uuid;
BEGIN
  IF TG_TABLE_NAME = 'hosts' THEN
    touched := NEW.id;
  ELSIF TG_OP = 'DELETE' THEN
    touched := OLD.host_id;
  ELSE
    touched := NEW.host_id;
  END IF;
  UPDATE host_revisions SET changed_xid = pg_current_xact_id()
    WHERE host_id = touched AND changed_xid <> pg_current_xact_id();
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE FUNCTION number_new_host() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO host_revisions (host_id) VALUES (NEW.id);
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER hosts_numbered AFTER INSERT ON hosts FOR EACH ROW EXECUTE FUNCTION number_new_host();
--> statement-breakpoint
CREATE TRIGGER hosts_touched AFTER UPDATE OF state, admin_state, numa_nodes, shared_storage ON hosts
  FOR EACH ROW EXECUTE FUNCTION touch_host();
--> statement-breakpoint
CREATE TRIGGER gpus_touched AFTER INSERT OR UPDATE OR DELETE ON gpus
  FOR EACH ROW EXECUTE FUNCTION touch_host();
--> statement-breakpoint
CREATE TRIGGER drives_touched AFTER INSERT OR UPDATE OR DELETE ON drives
  FOR EACH ROW EXECUTE FUNCTION touch_host();
--> statement-breakpoint
-- A VM's revision grows when it should run, or should not, or should boot again.
CREATE FUNCTION vm_should_run(desired text, abandoned boolean, observed text, observed_generation bigint, generation bigint)
RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT desired = 'running' AND NOT abandoned AND NOT (observed = 'failed' AND observed_generation = generation)
$$;
--> statement-breakpoint
CREATE FUNCTION revise_vm() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.generation <> OLD.generation OR NEW.desired_state <> OLD.desired_state
    OR vm_should_run(NEW.desired_state, NEW.abandoned, NEW.observed_state, NEW.observed_generation, NEW.generation)
    <> vm_should_run(OLD.desired_state, OLD.abandoned, OLD.observed_state, OLD.observed_generation, OLD.generation)
  THEN
    NEW.revision := OLD.revision + 1;
  END IF;
  RETURN NEW;
END $$;
--> statement-breakpoint
CREATE TRIGGER vms_revised BEFORE UPDATE OF desired_state, generation, abandoned, observed_state, observed_generation
  ON vms FOR EACH ROW EXECUTE FUNCTION revise_vm();
--> statement-breakpoint
-- A VM that is nowhere may have left its OS disk somewhere, which has to go with it.
CREATE FUNCTION bump_host_of_vm() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.placed THEN
    PERFORM bump_hosts(array_agg(host_id)) FROM placements WHERE vm_id = NEW.id;
  ELSE
    PERFORM bump_hosts(array_agg(d.host_id)) FROM disks d JOIN disk_attachments a ON a.disk_id = d.id
      WHERE a.vm_id = NEW.id AND d.kind = 'os' AND d.host_id IS NOT NULL;
  END IF;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER vms_bump AFTER UPDATE ON vms FOR EACH ROW
  WHEN (NEW.revision <> OLD.revision) EXECUTE FUNCTION bump_host_of_vm();
--> statement-breakpoint
CREATE FUNCTION bump_placed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM bump_hosts(array_agg(DISTINCT host_id)) FROM changed;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER placements_added AFTER INSERT ON placements REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION bump_placed();
--> statement-breakpoint
CREATE TRIGGER placements_removed AFTER DELETE ON placements REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION bump_placed();
--> statement-breakpoint
-- An attachment changes what the VM's host should do. The row goes when the host has shown that it
-- let go, which is nothing new to the host. A VM that is nowhere has no host to tell.
CREATE FUNCTION revise_vm_of_attachment() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE vms SET revision = revision + 1 WHERE id = NEW.vm_id AND placed;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER disk_attachments_revised AFTER INSERT OR UPDATE OF desired_state ON disk_attachments
  FOR EACH ROW EXECUTE FUNCTION revise_vm_of_attachment();
--> statement-breakpoint
-- A disk that grows or goes is its VMs' hosts' business, or that of the host that keeps it.
CREATE FUNCTION revise_owners_of_disk() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE vms SET revision = revision + 1 WHERE placed AND id IN (
    SELECT v.id FROM vms v JOIN disk_attachments a ON a.vm_id = v.id
    WHERE a.disk_id = NEW.id ORDER BY v.id FOR UPDATE OF v);
  IF NOT FOUND AND NEW.host_id IS NOT NULL THEN
    PERFORM bump_hosts(ARRAY[NEW.host_id]);
  END IF;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER disks_revised AFTER UPDATE ON disks FOR EACH ROW
  WHEN (NEW.kind = 'data' AND (NEW.size_gib <> OLD.size_gib OR NEW.desired_state <> OLD.desired_state))
  EXECUTE FUNCTION revise_owners_of_disk();
--> statement-breakpoint
-- A rule concerns every host that has a VM in its network: it is in force when each has said so.
CREATE FUNCTION bump_hosts_of_rule() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  concerned uuid[];
BEGIN
  SELECT array_agg(DISTINCT p.host_id) INTO concerned
    FROM placements p JOIN network_interfaces n ON n.vm_id = p.vm_id WHERE n.network_id = NEW.network_id;
  PERFORM bump_hosts(concerned);
  INSERT INTO firewall_rule_hosts (rule_id, host_id, number)
    SELECT NEW.id, host_id, number FROM host_revisions WHERE host_id = ANY(concerned)
    ON CONFLICT (rule_id, host_id) DO UPDATE SET number = EXCLUDED.number;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER firewall_rules_added AFTER INSERT ON firewall_rules
  FOR EACH ROW EXECUTE FUNCTION bump_hosts_of_rule();
--> statement-breakpoint
CREATE TRIGGER firewall_rules_changed AFTER UPDATE ON firewall_rules FOR EACH ROW
  WHEN (NEW.generation <> OLD.generation OR NEW.desired_state <> OLD.desired_state)
  EXECUTE FUNCTION bump_hosts_of_rule();
--> statement-breakpoint
-- A rule that names a VM means the VM's address: hosts learn of it when the VM gets or loses one.
CREATE FUNCTION bump_hosts_naming_vm() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  interface network_interfaces;
BEGIN
  SELECT * INTO interface FROM network_interfaces
    WHERE id = CASE TG_OP WHEN 'DELETE' THEN OLD.network_interface_id ELSE NEW.network_interface_id END;
  IF EXISTS (SELECT FROM firewall_rules r, jsonb_array_elements(r.sources || r.destinations) endpoint
    WHERE r.network_id = interface.network_id AND endpoint ->> 'resource_id' = interface.vm_id::text)
  THEN
    PERFORM bump_hosts(array_agg(DISTINCT p.host_id))
      FROM placements p JOIN network_interfaces n ON n.vm_id = p.vm_id WHERE n.network_id = interface.network_id;
  END IF;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER address_claims_bump AFTER INSERT OR DELETE ON address_claims
  FOR EACH ROW EXECUTE FUNCTION bump_hosts_naming_vm();
--> statement-breakpoint
INSERT INTO host_revisions (host_id) SELECT id FROM hosts;
