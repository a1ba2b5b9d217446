-- PostgreSQL runs triggers in the order of their names: the numbers of hosts are locked before quotas.
CREATE OR REPLACE TRIGGER snapshots_added AFTER INSERT ON snapshots FOR EACH ROW
  WHEN (NEW.host_id IS NOT NULL) EXECUTE FUNCTION bump_host_of_snapshot();

CREATE OR REPLACE TRIGGER snapshots_changed AFTER UPDATE ON snapshots FOR EACH ROW
  WHEN (NEW.host_id IS NOT NULL AND (NEW.freeze_state, NEW.observed_state, NEW.desired_state)
    IS DISTINCT FROM (OLD.freeze_state, OLD.observed_state, OLD.desired_state)) EXECUTE FUNCTION bump_host_of_snapshot();

CREATE OR REPLACE TRIGGER snapshots_gone AFTER DELETE ON snapshots FOR EACH ROW
  WHEN (OLD.host_id IS NOT NULL) EXECUTE FUNCTION bump_host_of_snapshot();

CREATE OR REPLACE TRIGGER snapshots_quota AFTER INSERT OR DELETE ON snapshots
  FOR EACH ROW EXECUTE FUNCTION count_snapshot();

CREATE OR REPLACE TRIGGER snapshots_frozen AFTER INSERT ON snapshots FOR EACH ROW
  WHEN (NEW.freeze_vm_id IS NOT NULL) EXECUTE FUNCTION bump_host_of_freeze();

CREATE OR REPLACE TRIGGER snapshots_thawed AFTER UPDATE ON snapshots FOR EACH ROW
  WHEN (NEW.freeze_vm_id IS NOT NULL AND (NEW.freeze_state, NEW.observed_state, NEW.desired_state)
    IS DISTINCT FROM (OLD.freeze_state, OLD.observed_state, OLD.desired_state)) EXECUTE FUNCTION bump_host_of_freeze();
