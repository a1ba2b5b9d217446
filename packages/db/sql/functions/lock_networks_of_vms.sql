-- Locks the networks of the VMs, so that their rules and subnets do not change until the end of the transaction.
-- If a rule names one of the VMs, all hosts of the rule's network get a new number. Then this function locks that network
-- too, and so that no VM is placed in it meanwhile: a host that joined it after the numbers were locked would be locked
-- out of order.
CREATE OR REPLACE FUNCTION lock_networks_of_vms(ids uuid[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  own constant uuid[] := ARRAY(SELECT network_id FROM network_interfaces WHERE vm_id = ANY(ids));
  naming uuid[] := '{}';
  found_naming uuid[];
BEGIN
  LOOP
    BEGIN
      IF naming = '{}' THEN
        PERFORM FROM networks WHERE id = ANY(own) ORDER BY id FOR SHARE;
      ELSE
        PERFORM FROM networks WHERE id = ANY(own || naming) ORDER BY id FOR NO KEY UPDATE;
      END IF;
      found_naming := networks_naming_vms(ids);
      IF found_naming <@ naming THEN RETURN; END IF;
      -- The rollback of this block gives the locks back, because two transactions that share a row cannot both change it.
      RAISE serialization_failure;
    EXCEPTION WHEN serialization_failure THEN
      naming := found_naming;
    END;
  END LOOP;
END $$;
