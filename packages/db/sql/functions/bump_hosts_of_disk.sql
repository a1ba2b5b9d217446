-- A disk that grows or is deleted concerns the hosts of its placed VMs. While no placed VM has the disk,
-- it concerns the host that keeps it. So does a disk that this host creates from a snapshot or sets back to one. The
-- hosts of its VMs also have to learn whether the disk exists.
CREATE OR REPLACE FUNCTION bump_hosts_of_disk() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  idle boolean := NOT EXISTS (SELECT FROM disk_attachments a JOIN vms v ON v.id = a.vm_id
    WHERE a.disk_id = NEW.id AND v.placed);
  removed boolean := NEW.kind = 'os' AND EXISTS (SELECT FROM disk_attachments a JOIN vms v ON v.id = a.vm_id
    WHERE a.disk_id = NEW.id AND (v.desired_state = 'deleted' OR v.abandoned));
  -- Whether the disk is in the spec of the host that keeps it.
  was_in_spec boolean := idle AND OLD.host_id IS NOT NULL AND (removed OR OLD.kind = 'data'
    AND (OLD.desired_state = 'deleted' OR OLD.observed_size_gib < OLD.size_gib)
    OR OLD.pool_id IS NULL AND (OLD.restore_snapshot_id IS NOT NULL
      OR OLD.source_snapshot_id IS NOT NULL AND OLD.observed_size_gib IS NULL));
  is_in_spec boolean := idle AND NEW.host_id IS NOT NULL AND (removed OR NEW.kind = 'data'
    AND (NEW.desired_state = 'deleted' OR NEW.observed_size_gib < NEW.size_gib)
    OR NEW.pool_id IS NULL AND (NEW.restore_snapshot_id IS NOT NULL
      OR NEW.source_snapshot_id IS NOT NULL AND NEW.observed_size_gib IS NULL));
BEGIN
  IF was_in_spec IS DISTINCT FROM is_in_spec
    OR is_in_spec AND (NEW.size_gib, NEW.host_id, NEW.desired_state)
      <> (OLD.size_gib, OLD.host_id, OLD.desired_state) THEN
    PERFORM bump_hosts(array_agg(DISTINCT id))
      FROM (VALUES (OLD.host_id, was_in_spec), (NEW.host_id, is_in_spec)) h (id, in_spec) WHERE in_spec;
  END IF;
  IF idle THEN RETURN NULL; END IF;
  IF NEW.kind = 'data' AND (NEW.size_gib <> OLD.size_gib OR NEW.desired_state <> OLD.desired_state) THEN
    PERFORM FROM vms v JOIN disk_attachments a ON a.vm_id = v.id WHERE a.disk_id = NEW.id ORDER BY v.id FOR UPDATE OF v;
    PERFORM FROM host_revisions WHERE host_id IN (SELECT p.host_id FROM placements p
      JOIN disk_attachments a ON a.vm_id = p.vm_id WHERE a.disk_id = NEW.id) ORDER BY host_id FOR UPDATE;
    UPDATE vms SET revision = greatest(revision + 1, count_floor())
      WHERE placed AND id IN (SELECT vm_id FROM disk_attachments WHERE disk_id = NEW.id);
  ELSIF (NEW.host_id IS NULL) <> (OLD.host_id IS NULL) THEN
    PERFORM bump_hosts(array_agg(DISTINCT p.host_id)) FROM placements p JOIN disk_attachments a ON a.vm_id = p.vm_id
      WHERE a.disk_id = NEW.id;
  END IF;
  RETURN NULL;
END $$;
