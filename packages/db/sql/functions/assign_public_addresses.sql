-- Gives each interface a free address of the location's pool, in this order, until the pool is empty. The
-- address that has been free for the longest time is used first. An address that an orphan has or that a project
-- has reserved is not free.
--
-- A released address rests for a quarter of an hour. Until then DNS records, allow lists and clients of the
-- former tenant may still refer to it, and would reach the next one. Meanwhile it goes only to the project
-- that had it, and only if no other is left.
CREATE OR REPLACE FUNCTION assign_public_addresses(of_location text, interfaces uuid[]) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  rested_since constant timestamptz := now() - interval '15 minutes';
  chosen uuid[];
BEGIN
  IF cardinality(interfaces) = 0 THEN RETURN; END IF;
  chosen := ARRAY(SELECT id FROM public_addresses
    WHERE network_interface_id IS NULL AND NOT reserved AND location = of_location
      AND NOT EXISTS (SELECT FROM orphan_interfaces i WHERE i.public_address = public_addresses.address)
      AND (released_at IS NULL OR released_at <= rested_since)
    ORDER BY released_at NULLS FIRST LIMIT cardinality(interfaces) FOR UPDATE SKIP LOCKED);
  IF cardinality(chosen) > 0 THEN
    UPDATE public_addresses SET network_interface_id = interfaces[array_position(chosen, id)] WHERE id = ANY(chosen);
  END IF;
  IF cardinality(chosen) = cardinality(interfaces) OR NOT EXISTS (SELECT FROM public_addresses
      WHERE network_interface_id IS NULL AND NOT reserved AND location = of_location AND released_at > rested_since)
  THEN RETURN; END IF;
  -- The interfaces that are left get addresses that rest, each of its own project.
  WITH wanted AS (
      SELECT t.id, v.project_id, row_number() OVER (PARTITION BY v.project_id ORDER BY t.n) AS n
      FROM unnest(interfaces[cardinality(chosen) + 1:]) WITH ORDINALITY AS t (id, n)
      JOIN network_interfaces i ON i.id = t.id JOIN vms v ON v.id = i.vm_id),
    free AS (
      SELECT id, last_project_id, released_at FROM public_addresses
      WHERE network_interface_id IS NULL AND NOT reserved AND location = of_location
        AND NOT EXISTS (SELECT FROM orphan_interfaces i WHERE i.public_address = public_addresses.address)
        AND released_at > rested_since AND last_project_id IN (SELECT project_id FROM wanted)
      ORDER BY released_at LIMIT cardinality(interfaces) FOR UPDATE SKIP LOCKED),
    own AS (SELECT id, last_project_id, row_number() OVER (PARTITION BY last_project_id ORDER BY released_at) AS n
      FROM free)
  UPDATE public_addresses p SET network_interface_id = wanted.id
    FROM own JOIN wanted ON wanted.project_id = own.last_project_id AND wanted.n = own.n WHERE p.id = own.id;
END $$;
