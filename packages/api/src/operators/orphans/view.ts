import type { DecidedOrphan } from '@gantry/db/queries/hosts/orphans';

export function orphanView(row: DecidedOrphan) {
  return {
    id: row.id,
    host_id: row.host_id,
    vm_id: row.vm_id,
    project_id: row.project_id ?? '',
    name: row.name,
    type: row.type,
    found_at: row.found_at.toISOString(),
    decision: row.decision ?? ('' as const),
    problem: row.problem,
    device_addresses: row.device_addresses,
    private_addresses: row.private_addresses,
    public_addresses: row.public_addresses,
    disk_ids: row.disk_ids,
  };
}
