CREATE OR REPLACE TRIGGER orphans_decided AFTER UPDATE OF decision ON orphans FOR EACH ROW
  WHEN (NEW.decision IS DISTINCT FROM OLD.decision) EXECUTE FUNCTION bump_host_of_orphan();

CREATE OR REPLACE TRIGGER orphans_removed AFTER DELETE ON orphans FOR EACH ROW
  WHEN (OLD.decision = 'delete') EXECUTE FUNCTION bump_host_of_orphan();

CREATE OR REPLACE TRIGGER orphans_touched AFTER INSERT OR DELETE ON orphans
  FOR EACH ROW EXECUTE FUNCTION touch_host();
