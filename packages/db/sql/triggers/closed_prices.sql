CREATE OR REPLACE TRIGGER closed_prices_final BEFORE UPDATE OR DELETE ON closed_prices
  FOR EACH ROW EXECUTE FUNCTION refuse_change();

CREATE OR REPLACE TRIGGER closed_prices_open BEFORE INSERT ON closed_prices
  FOR EACH ROW EXECUTE FUNCTION require_open_day();
