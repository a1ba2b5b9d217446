CREATE OR REPLACE TRIGGER device_claims_added AFTER INSERT ON device_claims REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION stream_claims();

CREATE OR REPLACE TRIGGER device_claims_removed AFTER DELETE ON device_claims REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION stream_claims();

CREATE OR REPLACE TRIGGER device_claims_of_orphans AFTER INSERT ON device_claims FOR EACH ROW
  WHEN (NEW.orphan_id IS NOT NULL) EXECUTE FUNCTION bump_host_of_orphan_device();
