CREATE OR REPLACE TRIGGER address_claims_added AFTER INSERT ON address_claims REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION bump_hosts_of_addresses();

CREATE OR REPLACE TRIGGER address_claims_changed AFTER UPDATE ON address_claims REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION bump_hosts_of_addresses();

CREATE OR REPLACE TRIGGER address_claims_removed AFTER DELETE ON address_claims REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION bump_hosts_of_addresses();
