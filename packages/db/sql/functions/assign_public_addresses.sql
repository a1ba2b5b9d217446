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
BEGIN
  IF cardinality(interfaces) = 0 THEN RETURN; END IF;
  WITH wanted AS (
      SELECT t.id, t.n, v.project_id FROM unnest(interfaces) WITH ORDINALITY AS t (id, n)
      JOIN network_interfaces i ON i.id = t.id JOIN vms v ON v.id = i.vm_id),
    free AS (
      SELECT id, last_project_id, released_at, coalesce(released_at > rested_since, false) AS resting
      FROM public_addresses
      WHERE network_interface_id IS NULL AND NOT reserved AND location = of_location
        AND NOT EXISTS (SELECT FROM orphan_interfaces i WHERE i.public_address = public_addresses.address)
        AND (released_at IS NULL OR released_at <= rested_since OR last_project_id IN (SELECT project_id FROM wanted))
      ORDER BY released_at NULLS FIRST LIMIT cardinality(interfaces) FOR UPDATE SKIP LOCKED),
    rested AS (SELECT id, row_number() OVER (ORDER BY released_at NULLS FIRST) AS n FROM free WHERE NOT resting),
    own AS (SELECT id, last_project_id, row_number() OVER (PARTITION BY last_project_id ORDER BY released_at) AS n
      FROM free WHERE resting),
    left_over AS (SELECT id, project_id, row_number() OVER (PARTITION BY project_id ORDER BY n) AS n
      FROM wanted WHERE n > (SELECT count(*) FROM rested)),
    chosen AS (
      SELECT rested.id, wanted.id AS interface_id FROM rested JOIN wanted ON wanted.n = rested.n
      UNION ALL
      SELECT own.id, left_over.id FROM own
      JOIN left_over ON left_over.project_id = own.last_project_id AND left_over.n = own.n)
  UPDATE public_addresses p SET network_interface_id = chosen.interface_id
    FROM chosen WHERE p.id = chosen.id;
END $$;
