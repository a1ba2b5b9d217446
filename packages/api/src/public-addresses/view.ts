import type { ReservedAddressRow } from '@gantry/db/queries/networks/reserved-addresses';

export function reservedAddressView(row: ReservedAddressRow) {
  const { id, name, address, location, vm_id, tags, created_at } = row;
  return {
    id,
    name,
    address,
    location,
    vm_id: vm_id ?? '',
    tags,
    created_at: created_at.toISOString(),
  };
}
