-- Quotas are counted where the rows are, so that no path into or out of a table can forget them.
-- The counter's row lock makes concurrent creations of one project take turns: at the limit exactly
-- the allowed number gets in. Raised as SQLSTATE GQ001 with the quota in the detail.
CREATE FUNCTION change_quota(project uuid, quota text, change bigint) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  row_after record;
BEGIN
  IF change = 0 THEN RETURN; END IF;
  UPDATE quotas SET used = used + change
    WHERE project_id = project AND type = quota
    RETURNING used, max INTO row_after;
  IF change > 0 AND row_after.used > row_after.max THEN
    RAISE EXCEPTION 'quota exceeded' USING ERRCODE = 'GQ001',
      DETAIL = json_build_object('type', quota, 'max', row_after.max,
        'used', row_after.used - change, 'requested', change)::text;
  END IF;
END $$;
--> statement-breakpoint
CREATE FUNCTION count_rows() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    PERFORM change_quota(NEW.project_id, TG_ARGV[0], 1);
  ELSE
    PERFORM change_quota(OLD.project_id, TG_ARGV[0], -1);
  END IF;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE FUNCTION count_vm() RETURNS trigger LANGUAGE plpgsql AS $$
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
--> statement-breakpoint
-- An OS disk belongs to its VM and counts as nothing of its own.
CREATE FUNCTION count_disk() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' AND NEW.kind = 'data' THEN
    PERFORM change_quota(NEW.project_id, 'disk_gib', NEW.size_gib);
    PERFORM change_quota(NEW.project_id, 'disks', 1);
  ELSIF TG_OP = 'DELETE' AND OLD.kind = 'data' THEN
    PERFORM change_quota(OLD.project_id, 'disk_gib', -OLD.size_gib);
    PERFORM change_quota(OLD.project_id, 'disks', -1);
  ELSIF TG_OP = 'UPDATE' AND NEW.kind = 'data' THEN
    PERFORM change_quota(NEW.project_id, 'disk_gib', NEW.size_gib - OLD.size_gib);
  END IF;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER vms_quota AFTER INSERT OR DELETE OR UPDATE OF type ON vms FOR EACH ROW EXECUTE FUNCTION count_vm();
--> statement-breakpoint
CREATE TRIGGER disks_quota AFTER INSERT OR DELETE OR UPDATE OF size_gib ON disks FOR EACH ROW EXECUTE FUNCTION count_disk();
--> statement-breakpoint
CREATE TRIGGER firewall_rules_quota AFTER INSERT OR DELETE ON firewall_rules FOR EACH ROW EXECUTE FUNCTION count_rows('firewall_rules');
--> statement-breakpoint
CREATE TRIGGER networks_quota AFTER INSERT OR DELETE ON networks FOR EACH ROW EXECUTE FUNCTION count_rows('networks');
--> statement-breakpoint
CREATE TRIGGER subnets_quota AFTER INSERT OR DELETE ON subnets FOR EACH ROW EXECUTE FUNCTION count_rows('subnets');
--> statement-breakpoint
CREATE TRIGGER access_keys_quota AFTER INSERT OR DELETE ON access_keys FOR EACH ROW EXECUTE FUNCTION count_rows('access_keys');
