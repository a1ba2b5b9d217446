CREATE OR REPLACE TRIGGER images_bump AFTER UPDATE OF source_url, sha256 ON images FOR EACH ROW
  WHEN (NEW.source_url <> OLD.source_url OR NEW.sha256 <> OLD.sha256) EXECUTE FUNCTION bump_hosts_of_image();
