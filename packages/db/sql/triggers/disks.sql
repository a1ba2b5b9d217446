CREATE OR REPLACE TRIGGER disks_quota AFTER INSERT OR DELETE OR UPDATE OF size_gib ON disks
  FOR EACH ROW EXECUTE FUNCTION count_disk();

CREATE OR REPLACE TRIGGER disks_bump AFTER UPDATE ON disks FOR EACH ROW
  WHEN ((NEW.size_gib, NEW.desired_state, NEW.host_id, NEW.observed_size_gib, NEW.restore_snapshot_id)
    IS DISTINCT FROM (OLD.size_gib, OLD.desired_state, OLD.host_id, OLD.observed_size_gib, OLD.restore_snapshot_id))
  EXECUTE FUNCTION bump_hosts_of_disk();

CREATE OR REPLACE TRIGGER disks_discarded AFTER DELETE ON disks FOR EACH ROW WHEN (OLD.pool_id IS NOT NULL)
  EXECUTE FUNCTION discard_volume();
