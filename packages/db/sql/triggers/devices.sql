CREATE OR REPLACE TRIGGER devices_touched AFTER INSERT OR UPDATE OR DELETE ON devices
  FOR EACH ROW EXECUTE FUNCTION touch_host();

CREATE OR REPLACE TRIGGER devices_moved AFTER UPDATE OF kind, numa_node ON devices FOR EACH ROW
  WHEN (NEW.kind <> OLD.kind OR NEW.kind = 'gpu' AND NEW.numa_node <> OLD.numa_node) EXECUTE FUNCTION bump_host_of_device();

CREATE OR REPLACE TRIGGER devices_streamed AFTER INSERT OR DELETE ON devices FOR EACH ROW EXECUTE FUNCTION stream_device();

CREATE OR REPLACE TRIGGER devices_state_streamed AFTER UPDATE ON devices FOR EACH ROW
  WHEN ((NEW.state, NEW.state_reason, NEW.quarantine_reason, NEW.blocked)
    IS DISTINCT FROM (OLD.state, OLD.state_reason, OLD.quarantine_reason, OLD.blocked))
  EXECUTE FUNCTION stream_device();
