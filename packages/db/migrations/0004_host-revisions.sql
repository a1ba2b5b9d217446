-- A host's wanted state is many rows of many tables. Its number grows where those rows change, so
-- that no path can change what a host should do and forget to say so. Locks are taken in one order
-- everywhere: VMs by id, disks by id, hosts by id, networks, devices, numbers by host.

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
-- Where a VM's cores and memory come from is told by the nodes of its GPUs.
CREATE FUNCTION bump_host_of_gpu() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM bump_hosts(ARRAY[NEW.host_id]) FROM gpu_claims WHERE gpu_id = NEW.id;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER gpus_moved AFTER UPDATE OF numa_node ON gpus FOR EACH ROW
  WHEN (NEW.numa_node <> OLD.numa_node) EXECUTE FUNCTION bump_host_of_gpu();
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
  ELSIF NEW.desired_state = 'deleted' OR NEW.abandoned THEN
    PERFORM bump_hosts(array_agg(d.host_id)) FROM disks d JOIN disk_attachments a ON a.disk_id = d.id
      WHERE a.vm_id = NEW.id AND d.kind = 'os' AND d.host_id IS NOT NULL;
  END IF;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER vms_bump AFTER UPDATE ON vms FOR EACH ROW
  WHEN (NEW.revision <> OLD.revision) EXECUTE FUNCTION bump_host_of_vm();
--> statement-breakpoint
-- A new name is told too; it counts from the next boot on, so it is no new revision.
CREATE TRIGGER vms_named AFTER UPDATE OF name ON vms FOR EACH ROW
  WHEN (NEW.name <> OLD.name AND NEW.placed) EXECUTE FUNCTION bump_host_of_vm();
--> statement-breakpoint
-- What a VM is made from is told while it is not made.
CREATE FUNCTION bump_hosts_of_image() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM bump_hosts(array_agg(DISTINCT p.host_id)) FROM vms v JOIN placements p ON p.vm_id = v.id
    JOIN disk_attachments a ON a.vm_id = v.id AND a.attachment_type = 'os' JOIN disks d ON d.id = a.disk_id
    WHERE v.image_id = NEW.id AND (d.host_id IS NULL OR d.observed_size_gib IS NULL);
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER images_bump AFTER UPDATE OF source_url, sha256 ON images FOR EACH ROW
  WHEN (NEW.source_url <> OLD.source_url OR NEW.sha256 <> OLD.sha256) EXECUTE FUNCTION bump_hosts_of_image();
--> statement-breakpoint
-- A disk that is to be grown is the business of the host that keeps it, until a VM that has it is
-- placed, and from then on of that VM's host.
CREATE FUNCTION bump_placed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM bump_hosts(array_agg(host_id)) FROM (
    SELECT host_id FROM changed
    UNION SELECT d.host_id FROM changed c JOIN disk_attachments a ON a.vm_id = c.vm_id
      JOIN disks d ON d.id = a.disk_id
      WHERE d.kind = 'data' AND d.host_id IS NOT NULL AND d.observed_size_gib < d.size_gib) concerned;
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
-- A disk that was to grow while it was let go is from then on the business of the host that keeps it.
CREATE FUNCTION bump_host_of_let_go_disk() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM bump_hosts(array_agg(host_id)) FROM disks WHERE id = OLD.disk_id AND kind = 'data'
    AND host_id IS NOT NULL AND observed_size_gib < size_gib;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER disk_attachments_let_go AFTER DELETE ON disk_attachments
  FOR EACH ROW EXECUTE FUNCTION bump_host_of_let_go_disk();
--> statement-breakpoint
-- A disk that grows or goes is its VMs' hosts' business; that of the host that keeps it, while no
-- placed VM has it. Whether it exists is told to the hosts of its VMs.
CREATE FUNCTION bump_hosts_of_disk() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  idle boolean := NOT EXISTS (SELECT FROM disk_attachments a JOIN vms v ON v.id = a.vm_id
    WHERE a.disk_id = NEW.id AND v.placed);
  removed boolean := NEW.kind = 'os' AND EXISTS (SELECT FROM disk_attachments a JOIN vms v ON v.id = a.vm_id
    WHERE a.disk_id = NEW.id AND (v.desired_state = 'deleted' OR v.abandoned));
  was_told boolean := idle AND OLD.host_id IS NOT NULL AND (removed OR OLD.kind = 'data'
    AND (OLD.desired_state = 'deleted' OR OLD.observed_size_gib < OLD.size_gib));
  is_told boolean := idle AND NEW.host_id IS NOT NULL AND (removed OR NEW.kind = 'data'
    AND (NEW.desired_state = 'deleted' OR NEW.observed_size_gib < NEW.size_gib));
BEGIN
  IF was_told IS DISTINCT FROM is_told OR is_told AND (NEW.size_gib <> OLD.size_gib OR NEW.host_id <> OLD.host_id) THEN
    PERFORM bump_hosts(array_agg(DISTINCT id)) FROM (VALUES (OLD.host_id, was_told), (NEW.host_id, is_told)) h (id, told)
      WHERE told;
  END IF;
  IF idle THEN RETURN NULL; END IF;
  IF NEW.kind = 'data' AND (NEW.size_gib <> OLD.size_gib OR NEW.desired_state <> OLD.desired_state) THEN
    PERFORM FROM vms v JOIN disk_attachments a ON a.vm_id = v.id WHERE a.disk_id = NEW.id ORDER BY v.id FOR UPDATE OF v;
    PERFORM FROM host_revisions WHERE host_id IN (SELECT p.host_id FROM placements p
      JOIN disk_attachments a ON a.vm_id = p.vm_id WHERE a.disk_id = NEW.id) ORDER BY host_id FOR UPDATE;
    UPDATE vms SET revision = revision + 1
      WHERE placed AND id IN (SELECT vm_id FROM disk_attachments WHERE disk_id = NEW.id);
  ELSIF (NEW.host_id IS NULL OR NEW.observed_size_gib IS NULL)
    <> (OLD.host_id IS NULL OR OLD.observed_size_gib IS NULL) THEN
    PERFORM bump_hosts(array_agg(DISTINCT p.host_id)) FROM placements p JOIN disk_attachments a ON a.vm_id = p.vm_id
      WHERE a.disk_id = NEW.id;
  END IF;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER disks_bump AFTER UPDATE ON disks FOR EACH ROW
  WHEN ((NEW.size_gib, NEW.desired_state, NEW.host_id, NEW.observed_size_gib)
    IS DISTINCT FROM (OLD.size_gib, OLD.desired_state, OLD.host_id, OLD.observed_size_gib))
  EXECUTE FUNCTION bump_hosts_of_disk();
--> statement-breakpoint
-- A rule concerns every host that has a VM in its network: it is in force when each has said so.
-- Whoever places a VM, or gives one an address or takes it, holds the network's row FOR SHARE: a rule
-- and a VM that come at the same moment would otherwise not see each other, and the VM's host would
-- never be told.
CREATE FUNCTION bump_hosts_of_rule() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  concerned uuid[];
BEGIN
  PERFORM FROM networks WHERE id = NEW.network_id FOR NO KEY UPDATE;
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
-- Hosts whose rules name one of these VMs. What a rule names beside VMs stays as long as it is named.
CREATE FUNCTION hosts_naming(ids uuid[]) RETURNS SETOF uuid LANGUAGE sql STABLE AS $$
  SELECT DISTINCT p.host_id FROM placements p JOIN network_interfaces n ON n.vm_id = p.vm_id
    WHERE n.network_id IN (SELECT r.network_id FROM firewall_rules r,
        jsonb_array_elements(r.sources || r.destinations) endpoint
      WHERE r.project_id IN (SELECT project_id FROM vms WHERE id = ANY(ids))
        AND endpoint ->> 'resource_id' = ANY(ids::text[]))
$$;
--> statement-breakpoint
-- A rule that names a VM means the VM's address: hosts learn of it when the VM gets or loses one.
CREATE FUNCTION bump_hosts_naming_vm() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM bump_hosts(array_agg(naming)) FROM hosts_naming((SELECT array_agg(n.vm_id)
    FROM changed c JOIN network_interfaces n ON n.id = c.network_interface_id)) naming;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER address_claims_added AFTER INSERT ON address_claims REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION bump_hosts_naming_vm();
--> statement-breakpoint
CREATE TRIGGER address_claims_removed AFTER DELETE ON address_claims REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION bump_hosts_naming_vm();
--> statement-breakpoint
INSERT INTO host_revisions (host_id) SELECT id FROM hosts;
