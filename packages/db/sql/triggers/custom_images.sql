-- PostgreSQL runs triggers in the order of their names: the numbers of hosts are locked before quotas.
CREATE OR REPLACE TRIGGER custom_images_export AFTER INSERT ON custom_images FOR EACH ROW
  WHEN (NEW.host_id IS NOT NULL) EXECUTE FUNCTION bump_host_of_snapshot();
CREATE OR REPLACE TRIGGER custom_images_exported AFTER UPDATE OF host_id ON custom_images FOR EACH ROW
  WHEN (OLD.host_id IS NOT NULL AND NEW.host_id IS NULL) EXECUTE FUNCTION bump_host_of_snapshot();
CREATE OR REPLACE TRIGGER custom_images_quota AFTER INSERT ON custom_images
  FOR EACH ROW EXECUTE FUNCTION count_image();
CREATE OR REPLACE TRIGGER custom_images_quota_freed AFTER UPDATE OF desired_state ON custom_images FOR EACH ROW
  WHEN (OLD.desired_state = 'present' AND NEW.desired_state = 'deleted') EXECUTE FUNCTION count_image();
