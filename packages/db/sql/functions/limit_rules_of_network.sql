-- Limits the rules of one network to 512 KiB, because each host with a VM of the network has to receive
-- and hold all of them. A rule that does not grow is accepted, so that a network that is over the limit
-- can be repaired.
--
-- The lock on the network's row serialises changes of its rules, so that concurrent requests cannot
-- exceed the limit together.
-- Raises SQLSTATE GR001 with the limit and the largest member of the rule as JSON in the detail.
CREATE OR REPLACE FUNCTION limit_rules_of_network() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  most constant bigint := 512 * 1024;
  total bigint;
  largest text;
BEGIN
  IF TG_OP = 'UPDATE' AND firewall_rule_bytes(NEW) <= firewall_rule_bytes(OLD) THEN RETURN NULL; END IF;
  PERFORM FROM networks WHERE id = NEW.network_id FOR NO KEY UPDATE;
  SELECT sum(firewall_rule_bytes(r)) INTO total FROM firewall_rules r
    WHERE r.network_id = NEW.network_id AND r.desired_state = 'present';
  IF total <= most THEN RETURN NULL; END IF;
  SELECT member INTO largest FROM (VALUES
      ('sources', 20 * jsonb_array_length(NEW.sources)),
      ('destinations', 20 * jsonb_array_length(NEW.destinations)),
      ('source_ports', 13 * cardinality(NEW.source_ports)),
      ('destination_ports', 13 * cardinality(NEW.destination_ports))) AS m (member, bytes)
    ORDER BY bytes DESC LIMIT 1;
  RAISE EXCEPTION 'rules of the network too large' USING ERRCODE = 'GR001',
    DETAIL = json_build_object('scope', 'network', 'type', 'firewall_rule_bytes', 'max', most,
      'used', total - firewall_rule_bytes(NEW), 'requested', firewall_rule_bytes(NEW), 'field', largest)::text;
END $$;
