CREATE OR REPLACE TRIGGER custom_images_quota AFTER INSERT ON custom_images
  FOR EACH ROW EXECUTE FUNCTION count_image();
CREATE OR REPLACE TRIGGER custom_images_quota_freed AFTER UPDATE OF desired_state ON custom_images FOR EACH ROW
  WHEN (OLD.desired_state = 'present' AND NEW.desired_state = 'deleted') EXECUTE FUNCTION count_image();
