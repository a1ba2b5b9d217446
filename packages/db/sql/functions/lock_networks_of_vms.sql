-- Locks the networks of the VMs, so that their rules and subnets do not change until the end of the transaction.
-- If a rule names one of the VMs, it locks the networks of such rules too, and so that no VM is placed in them meanwhile:
-- it could be on a host whose number the transaction would have to lock after it has locked those of the other hosts.
CREATE OR REPLACE FUNCTION lock_networks_of_vms(ids uuid[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  own constant uuid[] := ARRAY(SELECT network_id FROM network_interfaces WHERE vm_id = ANY(ids));
  naming uuid[];
BEGIN
  LOOP
    naming := ARRAY(SELECT networks_with_rules_on(ids));
    BEGIN
      IF naming = '{}' THEN
        PERFORM FROM networks WHERE id = ANY(own) ORDER BY id FOR SHARE;
      ELSE
        PERFORM FROM networks WHERE id = ANY(own || naming) ORDER BY id FOR NO KEY UPDATE;
      END IF;
      IF ARRAY(SELECT networks_with_rules_on(ids)) <@ naming THEN RETURN; END IF;
      -- It has waited for a transaction that added a rule. The locks are given back with the subtransaction of this block.
      RAISE serialization_failure;
    EXCEPTION WHEN serialization_failure THEN NULL;
    END;
  END LOOP;
END $$;
