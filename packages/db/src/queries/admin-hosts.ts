import type { DeviceKind, DeviceState, HostAdminState, HostState } from '@gantry/model/host-states';
import type { VmState } from '@gantry/model/states';
import type { Queryable } from '../connect.ts';
import { FIRST_ID } from './page-bounds.ts';

/** What operators see of hosts and their devices, and what they want of them. */

type HostDevice = {
  id: string;
  pci_address: string;
  numa_node: number;
  state: DeviceState;
  quarantine_reason: string;
  vm_id: string | null;
};
export type HostGpu = HostDevice & { model: string };
export type HostDrive = HostDevice & { size_gb: number };

export type HostRow = {
  id: string;
  name: string;
  location: string;
  state: HostState;
  admin_state: HostAdminState;
  last_seen_at: Date | null;
  created_at: Date;
  gpus: HostGpu[];
  drives: HostDrive[];
  vm_count: number;
};

const selectHost = (sql: Queryable) => sql`
  select h.id, h.name, h.location, h.state, h.admin_state, h.last_seen_at, h.created_at,
    (select coalesce(json_agg(json_build_object('id', g.id, 'pci_address', g.pci_address, 'model', g.model,
        'numa_node', g.numa_node, 'state', g.state, 'quarantine_reason', g.quarantine_reason,
        'vm_id', c.vm_id) order by g.pci_address), '[]')
      from gpus g left join gpu_claims c on c.gpu_id = g.id where g.host_id = h.id) as gpus,
    (select coalesce(json_agg(json_build_object('id', d.id, 'pci_address', d.pci_address, 'size_gb', d.size_gb,
        'numa_node', d.numa_node, 'state', d.state, 'quarantine_reason', d.quarantine_reason,
        'vm_id', c.vm_id) order by d.pci_address), '[]')
      from drives d left join drive_claims c on c.drive_id = d.id where d.host_id = h.id) as drives,
    (select count(*)::integer from placements p where p.host_id = h.id) as vm_count
  from hosts h`;

export async function readHost(sql: Queryable, hostId: string): Promise<HostRow | undefined> {
  const [row] = await sql<HostRow[]>`${selectHost(sql)} where h.id = ${hostId}`;
  return row;
}

/** The same, and nothing is placed there until the transaction ends. */
export async function lockHost(sql: Queryable, hostId: string): Promise<HostRow | undefined> {
  // The lock first, in a statement of its own: a statement's snapshot is older than a lock it waits for.
  await sql`select from hosts where id = ${hostId} for update`;
  return await readHost(sql, hostId);
}

export type HostFilter = {
  location: string | null;
  state: string | null;
  adminState: string | null;
  /** The last id of the page before. */
  after: string | null;
  limit: number;
};

export async function listHosts(sql: Queryable, filter: HostFilter): Promise<HostRow[]> {
  return await sql<HostRow[]>`${selectHost(sql)}
    where h.id > ${filter.after ?? FIRST_ID}
      and (${filter.location}::text is null or h.location = ${filter.location})
      and (${filter.state}::text is null or h.state = ${filter.state})
      and (${filter.adminState}::text is null or h.admin_state = ${filter.adminState})
    order by h.id limit ${filter.limit}`;
}

/** Returns whether there is such a host. */
export async function updateHostAdminState(
  sql: Queryable,
  { hostId, adminState }: { hostId: string; adminState: HostAdminState },
): Promise<boolean> {
  const { count } = await sql`update hosts set admin_state = ${adminState} where id = ${hostId}`;
  return count > 0;
}

export type PlacedVm = { id: string; project_id: string; name: string; state: VmState };

export async function listPlacedVms(sql: Queryable, hostId: string): Promise<PlacedVm[]> {
  return await sql<PlacedVm[]>`
    select v.id, v.project_id, v.name, v.state from placements p join vms v on v.id = p.vm_id
    where p.host_id = ${hostId} order by v.id`;
}

/** Its devices go with it. */
export async function removeHost(sql: Queryable, hostId: string): Promise<void> {
  await sql`delete from hosts where id = ${hostId}`;
}

export type DeviceRow = {
  id: string;
  kind: DeviceKind;
  host_id: string;
  pci_address: string;
  state: DeviceState;
  quarantine_reason: string;
};

/** Of a GPU or a drive, whichever has the id. An empty reason releases it. */
export async function updateQuarantine(
  sql: Queryable,
  { deviceId, reason }: { deviceId: string; reason: string },
): Promise<DeviceRow | undefined> {
  const [row] = await sql<DeviceRow[]>`
    with gpu as (update gpus set quarantine_reason = ${reason} where id = ${deviceId}
        returning id, 'gpu' as kind, host_id, pci_address, state, quarantine_reason),
      drive as (update drives set quarantine_reason = ${reason} where id = ${deviceId}
        returning id, 'drive' as kind, host_id, pci_address, state, quarantine_reason)
    select * from gpu union all select * from drive`;
  return row;
}
