-- Places VMs on hosts, all of them or none. The holder of the location's lease has chosen hosts, devices and
-- addresses from what it read earlier. Everything that the choice depends on is locked, then read again, then
-- written. Primary keys prevent double claims of devices, addresses and VMs; the locks only make conflicts
-- rare. It is one function because a scheduler calls it for every placement: a statement of its own for each
-- step costs several times as much.
--
-- "decided" is an array with an object for each VM:
--   {"vm_id", "generation", "host_id", "device_ids", "public_for",
--    "numa_shares": [{"node", "cores", "memoryMib"}],
--    "addresses": [{"interface_id", "subnet_id", "address"}]}
--
-- Returns null if the lease is not held. Otherwise the result has the transaction's id as "xid", the VMs that
-- were dropped because their desired state has changed or because another transaction has locked them, and
-- "moves": the chosen hosts with the transaction that had changed each of them last.
-- Raises SQLSTATE GP001 if a host, a NUMA node, a device, a disk, an address or the storage of a host is not as it was decided.
--
-- The order of locks is that of docs/contributors/lock-order.md.
--
-- A session keeps the plans of its statements. With sequential scans, plans that were made while a table was small
-- would read all of it for each placement after it has grown, until it is analysed again. Therefore statements find
-- rows by arrays of keys, and sequential scans are off. In PostgreSQL 15 this makes plans so expensive by estimate
-- that they would be compiled, so that is off too.
CREATE OR REPLACE FUNCTION place_vms(lease_location text, lease_holder uuid, lease_epoch bigint, decided jsonb)
RETURNS jsonb LANGUAGE plpgsql SET enable_seqscan = off SET jit = off AS $$
DECLARE
  decided_ids constant uuid[] := ARRAY(SELECT (d ->> 'vm_id')::uuid FROM jsonb_array_elements(decided) d);
  vm_ids uuid[];
  placed jsonb;
  chosen_hosts uuid[];
  chosen_devices uuid[];
  growing_hosts uuid[];
  new_disks uuid[];
  has_volumes boolean;
  moves jsonb;
  locked bigint;
BEGIN
  IF NOT lock_lease(lease_location, lease_holder, lease_epoch) THEN RETURN NULL; END IF;
  vm_ids := lock_unplaced_vms(decided_ids,
    ARRAY(SELECT (d ->> 'generation')::bigint FROM jsonb_array_elements(decided) d));
  placed := decided;
  IF cardinality(vm_ids) < cardinality(decided_ids) THEN
    SELECT coalesce(jsonb_agg(d), '[]') INTO placed
      FROM jsonb_array_elements(decided) d WHERE (d ->> 'vm_id')::uuid = ANY(vm_ids);
  END IF;
  chosen_hosts := ARRAY(SELECT DISTINCT (p ->> 'host_id')::uuid FROM jsonb_array_elements(placed) p);
  chosen_devices := ARRAY(SELECT device::uuid
    FROM jsonb_array_elements(placed) p, jsonb_array_elements_text(p -> 'device_ids') device);

  -- A spec contains whether a disk exists, so the disks must not change. A host that keeps a disk of a VM that has
  -- yet to grow gets a new number.
  SELECT coalesce(array_agg(host_id) FILTER (WHERE kind = 'data' AND observed_size_gib < size_gib), '{}'),
      coalesce(array_agg(id) FILTER (WHERE host_id IS NULL AND home_id IS NULL AND pool_id IS NULL
        AND type <> 'shared-volume'), '{}'),
      coalesce(bool_or(pool_id IS NOT NULL), false) INTO growing_hosts, new_disks, has_volumes
    FROM (SELECT id, kind, type, host_id, home_id, pool_id, size_gib, observed_size_gib FROM disks
      WHERE id = ANY(ARRAY(SELECT disk_id FROM disk_attachments WHERE vm_id = ANY(vm_ids)))
      ORDER BY id FOR NO KEY UPDATE) locked_disks;
  PERFORM FROM hosts WHERE id = ANY(chosen_hosts)
      AND state = 'ready' AND admin_state = 'active' AND fenced_at IS NULL AND drift = '{}' AND trouble = ''
      AND NOT (awaits_era AND stream_epoch > 0)
    ORDER BY id FOR SHARE;
  GET DIAGNOSTICS locked = ROW_COUNT;
  IF locked <> cardinality(chosen_hosts) THEN
    RAISE EXCEPTION 'a host is not as it was decided' USING ERRCODE = 'GP001';
  END IF;
  PERFORM lock_networks_of_vms(vm_ids);
  PERFORM FROM devices WHERE id = ANY(chosen_devices)
    AND state = 'ready' AND quarantine_reason = '' AND NOT blocked ORDER BY id FOR SHARE;
  GET DIAGNOSTICS locked = ROW_COUNT;
  IF locked <> cardinality(chosen_devices) THEN
    RAISE EXCEPTION 'a device is not as it was decided' USING ERRCODE = 'GP001';
  END IF;
  -- Hosts with firewall rules that name one of the VMs get a new number too.
  SELECT jsonb_agg(jsonb_build_object('host_id', host_id, 'before', changed_xid::text))
      FILTER (WHERE host_id = ANY(chosen_hosts)) INTO moves
    FROM (SELECT host_id, changed_xid FROM host_revisions
      WHERE host_id = ANY(chosen_hosts || ARRAY(SELECT hosts_with_rules_on(vm_ids))
        || growing_hosts)
      ORDER BY host_id FOR UPDATE) numbers;

  -- Addresses come first: while a VM is not placed, no other host has a route to it.
  INSERT INTO address_claims (network_interface_id, subnet_id, address)
    SELECT a.interface_id, a.subnet_id, a.address FROM jsonb_array_elements(placed) p,
      jsonb_to_recordset(p -> 'addresses') AS a (interface_id uuid, subnet_id uuid, address inet);
  -- Almost always there are no orphans.
  IF EXISTS (SELECT FROM orphan_interfaces) THEN
    PERFORM FROM orphan_interfaces i JOIN subnets s ON s.network_id = i.network_id AND i.private_address <<= s.cidr
      JOIN address_claims c ON c.subnet_id = s.id AND c.address = i.private_address
      JOIN network_interfaces n ON n.id = c.network_interface_id WHERE n.vm_id = ANY(vm_ids);
    IF FOUND THEN
      RAISE EXCEPTION 'an orphan has one of the addresses' USING ERRCODE = 'GP001';
    END IF;
  END IF;
  INSERT INTO placements (vm_id, host_id, epoch, numa_shares)
    SELECT (p ->> 'vm_id')::uuid, (p ->> 'host_id')::uuid, lease_epoch, p -> 'numa_shares'
    FROM jsonb_array_elements(placed) p;
  -- The numbers of the hosts are locked, so no other transaction adds shares to them meanwhile. Only nodes that the
  -- VMs use are checked: another node may have become smaller than what VMs have of it.
  PERFORM FROM hosts h, jsonb_to_recordset(h.numa_nodes) AS n (node integer, cores numeric, "memoryMib" numeric)
    WHERE h.id = ANY(chosen_hosts)
      AND (SELECT bool_or(p.vm_id = ANY(vm_ids)) AND (sum(s.cores) > n.cores OR sum(s."memoryMib") > n."memoryMib")
        FROM placements p, jsonb_to_recordset(p.numa_shares) AS s (node integer, cores numeric, "memoryMib" numeric)
        WHERE p.host_id = h.id AND s.node = n.node);
  IF FOUND THEN
    RAISE EXCEPTION 'a NUMA node is not as it was decided' USING ERRCODE = 'GP001';
  END IF;
  INSERT INTO device_claims (device_id, vm_id) SELECT device::uuid, (p ->> 'vm_id')::uuid
    FROM jsonb_array_elements(placed) p, jsonb_array_elements_text(p -> 'device_ids') device;
  UPDATE vms SET placed = true WHERE id = ANY(vm_ids);
  -- A reserved address is attached only while its VM has no host, so it is not in use.
  UPDATE public_addresses a SET network_interface_id = r.network_interface_id
    FROM reserved_addresses r JOIN network_interfaces n ON n.id = r.network_interface_id
    WHERE n.vm_id = ANY(vm_ids) AND a.id = r.public_address_id;
  PERFORM assign_public_addresses(lease_location, ARRAY(SELECT interface_id::uuid
    FROM jsonb_array_elements(placed) p, jsonb_array_elements_text(p -> 'public_for') interface_id
    WHERE NOT EXISTS (SELECT FROM reserved_addresses r WHERE r.network_interface_id = interface_id::uuid)));
  PERFORM decide_homes(vm_ids);
  IF has_volumes AND NOT assign_volume_keys(vm_ids) THEN
    RAISE EXCEPTION 'a volume has no key for the host yet' USING ERRCODE = 'GP001';
  END IF;
  -- Hosts that create no new disk are not checked: their storage may have become smaller than their disks.
  PERFORM FROM hosts WHERE id = ANY(ARRAY(SELECT host_id FROM placements WHERE vm_id = ANY(ARRAY(
      SELECT vm_id FROM disk_attachments
      WHERE vm_id = ANY(vm_ids) AND desired_state = 'attached' AND disk_id = ANY(new_disks)))))
    AND storage_gib IS NOT NULL AND disks_gib(id) > storage_gib;
  IF FOUND THEN
    RAISE EXCEPTION 'the storage of a host is not as it was decided' USING ERRCODE = 'GP001';
  END IF;
  RETURN jsonb_build_object('xid', pg_current_xact_id()::text, 'moves', coalesce(moves, '[]'),
    'dropped', to_jsonb(ARRAY(SELECT unnest(decided_ids) EXCEPT SELECT unnest(vm_ids))));
END $$;
