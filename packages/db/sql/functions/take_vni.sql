-- Gives a new network its VXLAN number: one that was never used, or else the one that was freed first.
-- A number leaves free_vnis in the transaction that inserts the network, so a refused request uses up
-- none. Concurrent creations take different rows and do not wait for each other, except that one of
-- 256 adds the next never-used numbers and holds the row of vni_pool until it commits.
--
-- A freed number rests for an hour, and until every host that was behind when its network was deleted
-- has accepted a newer spec or is fenced. All other hosts had accepted a spec without the network by
-- then, because a network is deleted only after its last VM. So no host can take packets of the new
-- network for packets of the old one. The hour is for agents that have accepted the spec and still
-- remove the link.
--
-- Raises SQLSTATE GV001 if every number is used or rests.
CREATE OR REPLACE FUNCTION take_vni() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  largest constant bigint := 16777215;
  position bigint;
  final bigint;
BEGIN
  LOOP
    DELETE FROM free_vnis WHERE vni = (SELECT vni FROM free_vnis WHERE freed_at IS NULL
      ORDER BY vni LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING vni INTO NEW.vni;
    IF FOUND THEN RETURN NEW; END IF;
    SELECT p.next, p.last INTO position, final FROM vni_pool p WHERE p.next <= p.last FOR UPDATE;
    EXIT WHEN NOT FOUND;
    UPDATE vni_pool SET next = least(position + 256, final + 1);
    INSERT INTO free_vnis (vni)
      SELECT n FROM generate_series(position, least(position + 255, final)) p,
        LATERAL (SELECT (p - 1) % largest + 1 AS n) AS number
      WHERE NOT EXISTS (SELECT FROM networks w WHERE w.vni = n)
      ON CONFLICT (vni) DO NOTHING;
  END LOOP;
  DELETE FROM free_vnis WHERE vni = (SELECT f.vni FROM free_vnis f
    WHERE f.freed_at < now() - interval '1 hour' AND NOT EXISTS (
      SELECT FROM unnest(f.host_ids, f.numbers) AS behind (host_id, number)
      JOIN hosts h ON h.id = behind.host_id
      WHERE h.fenced_at IS NULL AND h.accepted_number < behind.number)
    ORDER BY f.freed_at, f.vni LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING vni INTO NEW.vni;
  IF FOUND THEN RETURN NEW; END IF;
  RAISE EXCEPTION 'no free VXLAN number' USING ERRCODE = 'GV001';
END $$;
