CREATE OR REPLACE TRIGGER firewall_rules_names BEFORE INSERT OR UPDATE OF sources, destinations ON firewall_rules
  FOR EACH ROW EXECUTE FUNCTION note_named_resources();

CREATE OR REPLACE TRIGGER firewall_rules_size AFTER INSERT
    OR UPDATE OF sources, destinations, source_ports, destination_ports ON firewall_rules
  FOR EACH ROW EXECUTE FUNCTION limit_rules_of_network();

-- These run when the transaction commits. The first two lock all hosts of the network, on which VMs of other
-- tenants may be placed, and must not hold these locks while the client sends its other statements. Quotas are
-- locked last.
CREATE CONSTRAINT TRIGGER firewall_rules_added AFTER INSERT ON firewall_rules DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION bump_hosts_of_rule();

CREATE CONSTRAINT TRIGGER firewall_rules_changed AFTER UPDATE ON firewall_rules DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW WHEN (NEW.generation <> OLD.generation OR NEW.desired_state <> OLD.desired_state)
  EXECUTE FUNCTION bump_hosts_of_rule();

CREATE CONSTRAINT TRIGGER firewall_rules_quota AFTER INSERT OR DELETE ON firewall_rules DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION count_rows('firewall_rules');
