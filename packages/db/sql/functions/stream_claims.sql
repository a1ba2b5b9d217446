-- Sends devices that were given to VMs, or released from them, to the event stream of operators: one event for
-- each host and statement, because a VM claims all its devices at once.
CREATE OR REPLACE FUNCTION stream_claims() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO stream_events (type, data)
    SELECT 'devices', json_build_object('host_id', d.host_id, 'items',
      json_agg(device_event(d, CASE TG_OP WHEN 'INSERT' THEN coalesce(c.vm_id, o.vm_id) END, false) ORDER BY d.pci_address))
    FROM changed c JOIN devices d ON d.id = c.device_id LEFT JOIN orphans o ON o.id = c.orphan_id
    GROUP BY d.host_id ORDER BY d.host_id;
  RETURN NULL;
END $$;
