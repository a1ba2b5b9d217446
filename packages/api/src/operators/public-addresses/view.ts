import type { PublicAddressRow } from '@gantry/db/queries/networks/public-addresses';

export function publicAddressView(row: PublicAddressRow) {
  return { id: row.id, address: row.address, location: row.location, vm_id: row.vm_id ?? '' };
}
