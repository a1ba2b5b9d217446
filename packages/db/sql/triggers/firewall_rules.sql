CREATE OR REPLACE TRIGGER firewall_rules_quota AFTER INSERT OR DELETE ON firewall_rules
  FOR EACH ROW EXECUTE FUNCTION count_rows('firewall_rules');

CREATE OR REPLACE TRIGGER firewall_rules_added AFTER INSERT ON firewall_rules
  FOR EACH ROW EXECUTE FUNCTION bump_hosts_of_rule();

CREATE OR REPLACE TRIGGER firewall_rules_changed AFTER UPDATE ON firewall_rules FOR EACH ROW
  WHEN (NEW.generation <> OLD.generation OR NEW.desired_state <> OLD.desired_state)
  EXECUTE FUNCTION bump_hosts_of_rule();

-- Its name comes after those of the triggers above, so that they lock the network and its hosts first.
CREATE OR REPLACE TRIGGER firewall_rules_size AFTER INSERT
    OR UPDATE OF sources, destinations, source_ports, destination_ports ON firewall_rules
  FOR EACH ROW EXECUTE FUNCTION limit_rules_of_network();
