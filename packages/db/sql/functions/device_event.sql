-- Returns what the event stream sends about one device.
CREATE OR REPLACE FUNCTION device_event(d devices, vm_id uuid, deleted boolean) RETURNS json LANGUAGE sql STABLE AS $$
  SELECT json_build_object('id', d.id, 'kind', d.kind, 'pci_address', d.pci_address, 'state', d.state,
    'state_reason', d.state_reason, 'quarantine_reason', d.quarantine_reason, 'blocked', d.blocked,
    'vm_id', coalesce(vm_id::text, ''), 'deleted', deleted)
$$;
