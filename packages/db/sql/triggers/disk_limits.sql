CREATE CONSTRAINT TRIGGER disk_limits_changed AFTER UPDATE ON disk_limits DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW WHEN (to_jsonb(NEW) - 'updated_at' <> to_jsonb(OLD) - 'updated_at') EXECUTE FUNCTION bump_all_hosts();
