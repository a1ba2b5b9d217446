CREATE OR REPLACE TRIGGER hosts_numbered AFTER INSERT ON hosts FOR EACH ROW EXECUTE FUNCTION insert_host_revision();

CREATE OR REPLACE TRIGGER hosts_reached AFTER UPDATE OF underlay_address ON hosts FOR EACH ROW
  WHEN (NEW.underlay_address IS DISTINCT FROM OLD.underlay_address) EXECUTE FUNCTION bump_hosts_of_underlay();

CREATE OR REPLACE TRIGGER hosts_storing AFTER UPDATE OF storage_address ON hosts FOR EACH ROW
  WHEN (NEW.storage_address IS DISTINCT FROM OLD.storage_address) EXECUTE FUNCTION touch_hosts_at_address();

-- Every inventory writes these columns. Placement reads the host again only if one of them has changed.
CREATE OR REPLACE TRIGGER hosts_touched AFTER UPDATE OF state, admin_state, numa_nodes, shared_storage, enforces_bandwidth,
    lacks_nesting, storage_gib, drift, refusal, impairment, failed_builds ON hosts
  FOR EACH ROW WHEN ((NEW.state, NEW.admin_state, NEW.numa_nodes, NEW.shared_storage, NEW.enforces_bandwidth,
      NEW.lacks_nesting, NEW.storage_gib, NEW.drift, NEW.trouble)
    IS DISTINCT FROM (OLD.state, OLD.admin_state, OLD.numa_nodes, OLD.shared_storage, OLD.enforces_bandwidth,
      OLD.lacks_nesting, OLD.storage_gib, OLD.drift, OLD.trouble))
  EXECUTE FUNCTION touch_host();

CREATE OR REPLACE TRIGGER hosts_streamed AFTER INSERT OR DELETE ON hosts FOR EACH ROW EXECUTE FUNCTION stream_host();

CREATE OR REPLACE TRIGGER hosts_state_streamed AFTER UPDATE ON hosts FOR EACH ROW
  WHEN ((NEW.state, NEW.admin_state, NEW.trouble, NEW.drift, NEW.scheduler_id IS NULL)
    IS DISTINCT FROM (OLD.state, OLD.admin_state, OLD.trouble, OLD.drift, OLD.scheduler_id IS NULL))
  EXECUTE FUNCTION stream_host();
