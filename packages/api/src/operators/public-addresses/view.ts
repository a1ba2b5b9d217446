import type { PublicAddressRow } from '@gantry/db/queries/networks/public-addresses';

export function publicAddressView(row: PublicAddressRow) {
  const { id, address, location, vm_id, project_id } = row;
  return { id, address, location, vm_id: vm_id ?? '', project_id: project_id ?? '' };
}
