CREATE OR REPLACE TRIGGER usage_adjustments_final BEFORE UPDATE OR DELETE ON usage_adjustments
  FOR EACH ROW EXECUTE FUNCTION refuse_change();
