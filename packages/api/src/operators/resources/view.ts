import type { OperationOfTenant } from '@gantry/db/queries/operations/operations';
import type { DiskOfTenant } from '@gantry/db/queries/operators/all-disks';
import type { VmOfTenant } from '@gantry/db/queries/operators/all-vms';
import { diskView } from '@gantry/db/queries/vms/disk-view';
import { vmView } from '@gantry/db/queries/vms/vm-view';
import { operationView } from '../../operations/view.ts';

const tenantOf = (row: { project_id: string; organization_id: string }) => ({
  project_id: row.project_id,
  organization_id: row.organization_id,
});

export function adminVmView(row: VmOfTenant) {
  return { ...vmView(row), ...tenantOf(row), host_id: row.host_id ?? '' };
}

export function adminDiskView(row: DiskOfTenant) {
  return { ...diskView(row), ...tenantOf(row), host_id: row.host_id ?? '' };
}

export function adminOperationView(row: OperationOfTenant) {
  return { ...operationView(row), ...tenantOf(row) };
}
