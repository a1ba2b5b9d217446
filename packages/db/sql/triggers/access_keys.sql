CREATE OR REPLACE TRIGGER access_keys_quota AFTER INSERT OR DELETE ON access_keys
  FOR EACH ROW EXECUTE FUNCTION count_rows('access_keys');
