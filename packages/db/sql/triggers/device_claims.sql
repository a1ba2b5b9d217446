CREATE OR REPLACE TRIGGER device_claims_of_orphans AFTER INSERT ON device_claims FOR EACH ROW
  WHEN (NEW.orphan_id IS NOT NULL) EXECUTE FUNCTION bump_host_of_orphan_device();
