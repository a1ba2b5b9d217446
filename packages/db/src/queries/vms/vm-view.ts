import { isoTime } from '../../iso-time.ts';
import type { VmInterfaceRow, VmRow } from './vms.ts';

/** The contract has commitments, templates, groups and reservations; nothing sets them yet. */
const UNSET = {
  commitment_period: 0,
  commitment_end: '',
  instance_template_id: '',
  instance_group_id: '',
  reservation_id: '',
};

export function vmView(row: VmRow) {
  const first = row.network_interfaces[0];
  return {
    id: row.id,
    project_id: row.project_id,
    type: row.type,
    state: row.state,
    ssh_destination: first?.public_address ?? first?.private_address ?? '',
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    name: row.name,
    location: row.location,
    ...UNSET,
    disks: row.disks.map((disk) => ({
      ...disk,
      created_at: isoTime(disk.created_at),
      updated_at: isoTime(disk.updated_at),
    })),
    network_interfaces: row.network_interfaces.map(interfaceView),
    host_channel_adapters: [],
    on_host_failure: row.on_host_failure,
    tags: row.tags,
    virtualization_features: { nested_virtualization: row.nested_virtualization },
  };
}

function interfaceView(row: VmInterfaceRow) {
  return {
    id: row.id,
    name: row.name,
    network: row.network,
    subnet: row.subnet,
    interface_type: 'Ethernet',
    mac_address: row.mac_address,
    ips: [
      {
        private_ipv4: { address: row.private_address ?? '' },
        public_ipv4: {
          address: row.public_address ?? '',
          id: row.public_address_id ?? '',
          type: publicType(row),
        },
      },
    ],
  };
}

/** An interface that wants a public address has none until the VM is placed, or if none is left. */
function publicType({ public_address, is_reserved, wants_public_ipv4 }: VmInterfaceRow): string {
  if (is_reserved) return 'reserved';
  if (public_address !== null) return 'dynamic';
  return wants_public_ipv4 ? '' : 'none';
}
