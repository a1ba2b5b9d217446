CREATE OR REPLACE TRIGGER vms_quota AFTER INSERT OR DELETE OR UPDATE OF type ON vms
  FOR EACH ROW EXECUTE FUNCTION count_vm();

CREATE OR REPLACE TRIGGER vms_revised BEFORE UPDATE OF desired_state, generation, abandoned, observed_state, observed_generation,
    relocating ON vms FOR EACH ROW EXECUTE FUNCTION revise_vm();

CREATE OR REPLACE TRIGGER vms_bump AFTER UPDATE ON vms FOR EACH ROW
  WHEN (NEW.revision <> OLD.revision) EXECUTE FUNCTION bump_host_of_vm();

-- The host needs the new name from the next boot on, so renaming a VM is not a new revision.
CREATE OR REPLACE TRIGGER vms_named AFTER UPDATE OF name ON vms FOR EACH ROW
  WHEN (NEW.name <> OLD.name AND NEW.placed) EXECUTE FUNCTION bump_host_of_vm();

CREATE OR REPLACE TRIGGER vms_good_standing BEFORE INSERT OR UPDATE OF power_action ON vms FOR EACH ROW
  WHEN (NEW.power_action IN ('CREATE', 'START')) EXECUTE FUNCTION require_good_standing();

CREATE OR REPLACE TRIGGER vms_streamed AFTER INSERT OR DELETE ON vms FOR EACH ROW EXECUTE FUNCTION stream_vm();

CREATE OR REPLACE TRIGGER vms_state_streamed AFTER UPDATE ON vms FOR EACH ROW
  WHEN ((NEW.state, NEW.name) IS DISTINCT FROM (OLD.state, OLD.name)) EXECUTE FUNCTION stream_vm();

CREATE OR REPLACE TRIGGER vms_step_streamed AFTER UPDATE OF placed, relocating ON vms FOR EACH ROW
  WHEN ((NEW.placed AND NOT OLD.placed) OR (NEW.relocating AND NOT OLD.relocating)) EXECUTE FUNCTION stream_vm_step();
