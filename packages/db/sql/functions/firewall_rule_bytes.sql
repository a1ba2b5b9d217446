-- An upper bound of the bytes of a rule in the spec of a host. An endpoint counts as much as the longest
-- address, because a rule may name a VM that gets its address later.
CREATE OR REPLACE FUNCTION firewall_rule_bytes(rule firewall_rules) RETURNS bigint
LANGUAGE sql IMMUTABLE AS $$
  SELECT 128
    + 20 * (jsonb_array_length(rule.sources) + jsonb_array_length(rule.destinations))
    + 13 * (cardinality(rule.source_ports) + cardinality(rule.destination_ports))
$$;
