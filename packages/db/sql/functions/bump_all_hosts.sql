-- The limits of disks are part of every host's spec. A transaction that places a VM on a host locks the host's number,
-- so the spec of this VM is read with the new limits, or is sent again because of this number.
--
-- It runs when the transaction commits. As in bump_hosts_of_rule, if one number is not free, all are given back for a
-- moment, and after some seconds it waits for them in order.
CREATE OR REPLACE FUNCTION bump_all_hosts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  FOR attempt IN 1..500 LOOP
    -- The locks are given back with the subtransaction of this block.
    BEGIN
      PERFORM FROM host_revisions ORDER BY host_id FOR UPDATE NOWAIT;
      EXIT;
    EXCEPTION WHEN lock_not_available THEN
      PERFORM pg_sleep(0.002 + 0.008 * random());
    END;
  END LOOP;
  PERFORM bump_hosts(ARRAY(SELECT host_id FROM host_revisions));
  RETURN NULL;
END $$;
