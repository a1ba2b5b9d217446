CREATE OR REPLACE TRIGGER disk_attachments_revised AFTER INSERT OR UPDATE OF desired_state ON disk_attachments
  FOR EACH ROW EXECUTE FUNCTION revise_vm_of_attachment();

CREATE OR REPLACE TRIGGER disk_attachments_removed AFTER DELETE ON disk_attachments
  FOR EACH ROW EXECUTE FUNCTION bump_host_of_detached_disk();

CREATE OR REPLACE TRIGGER disk_attachments_key_revoked AFTER DELETE ON disk_attachments
  FOR EACH ROW EXECUTE FUNCTION revoke_keys_of_attachment();
