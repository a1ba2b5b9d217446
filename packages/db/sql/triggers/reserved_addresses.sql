CREATE OR REPLACE TRIGGER reserved_addresses_noted AFTER INSERT OR DELETE ON reserved_addresses
  FOR EACH ROW EXECUTE FUNCTION note_reservation();

CREATE OR REPLACE TRIGGER reserved_addresses_quota AFTER INSERT OR DELETE ON reserved_addresses
  FOR EACH ROW EXECUTE FUNCTION count_rows('public_addresses');
