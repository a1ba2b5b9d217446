import type { DeviceKind } from '@gantry/model/host-states';
import type { Queryable } from '../../connect.ts';
import type { NumaShare } from '../../schema/claims.ts';
import type { NumaNodeTotals } from '../../schema/hosts.ts';
import { type TypeAmounts, typeAmounts } from '../catalogue/type-amounts.ts';

/** Reads hosts for placement with a few set-based statements, for ten thousand hosts too. */

export type PlacementHostRow = {
  id: string;
  name: string;
  location: string;
  state: string;
  admin_state: string;
  fenced: boolean;
  shared_storage: boolean;
  enforces_bandwidth: boolean;
  lacks_nesting: boolean;
  /** Whether it has an address in the storage network that no other host has. */
  reaches_volumes: boolean;
  /** How much larger its disks may become together; null if there is no limit. */
  free_storage_gib: number | null;
  drifted: boolean;
  /** Why it takes no new VMs although it is connected; empty if it does. */
  trouble: string;
  numa_nodes: NumaNodeTotals[];
  /** The last transaction that changed anything that placement reads. */
  changed_xid: string;
};

export type PlacementDeviceRow = {
  id: string;
  host_id: string;
  kind: DeviceKind;
  pci_address: string;
  numa_node: number;
  state: string;
  quarantine_reason: string;
  blocked: boolean;
  /** The message of the first problem that blocks it; null if there is none. */
  problem: string | null;
  vm_id: string | null;
  model: string;
  size_gb: number;
  pcie_switch: string;
  iommu_group: number | null;
  nvlink_peer: string;
};

export type PlacementHostRows = {
  hosts: PlacementHostRow[];
  devices: PlacementDeviceRow[];
  vms: (TypeAmounts & { vm_id: string; host_id: string; numa_shares: NumaShare[] | null })[];
};

/** All hosts, or the named ones, of a location or of all locations (null). */
export type HostSelection = { location: string | null; hostIds: readonly string[] | null };

/** Several statements; they are consistent in a repeatable-read transaction. */
export async function readPlacementHosts(
  sql: Queryable,
  selection: HostSelection,
): Promise<PlacementHostRows> {
  const [hosts, devices, vms] = await Promise.all([
    sql<PlacementHostRow[]>`
      select h.id, h.name, h.location, h.state, h.admin_state, h.fenced_at is not null as fenced, h.shared_storage,
        h.enforces_bandwidth, h.lacks_nesting, h.storage_address is not null and h.storage_address not in (select storage_address
          from hosts where storage_address is not null group by storage_address having count(*) > 1) as reaches_volumes,
        case when h.storage_gib is not null then h.storage_gib - disks_gib(h.id)::integer end as free_storage_gib,
        h.drift <> '{}' as drifted, h.trouble, h.numa_nodes, r.changed_xid::text
      from hosts h join host_revisions r on r.host_id = h.id where ${selected(sql, selection)} order by h.name`,
    sql<PlacementDeviceRow[]>`
      select d.id, d.host_id, d.kind, d.pci_address, d.numa_node, d.model, d.size_gb, d.pcie_switch, d.iommu_group,
        d.nvlink_peer, d.state, d.quarantine_reason, d.blocked, coalesce(c.vm_id, o.vm_id) as vm_id,
        case when d.blocked then (select p ->> 'message' from jsonb_array_elements(d.problems) p
          where p ->> 'severity' = 'block' limit 1) end as problem
      from devices d join hosts h on h.id = d.host_id left join device_claims c on c.device_id = d.id
      left join orphans o on o.id = c.orphan_id
      where ${selected(sql, selection)} order by d.host_id, d.pci_address`,
    sql<PlacementHostRows['vms']>`
      select p.vm_id, p.host_id, p.numa_shares, ${typeAmounts(sql)}
      from placements p join hosts h on h.id = p.host_id join vms v on v.id = p.vm_id join vm_types t on t.name = v.type
      where ${selected(sql, selection)}
      union all select o.vm_id, o.host_id, orphan_numa_shares(o.description), ${typeAmounts(sql)}
      from orphans o join hosts h on h.id = o.host_id join vm_types t on t.name = o.type
      where ${selected(sql, selection)}`,
  ]);
  return { hosts, devices, vms };
}

/** Each case has its own condition, so that each gets its own plan. */
function selected(sql: Queryable, { location, hostIds }: HostSelection) {
  const there = location === null ? sql`true` : sql`h.location = ${location}`;
  return hostIds === null ? there : sql`${there} and h.id = any(${[...hostIds]}::uuid[])`;
}

/**
 * Lists ready hosts that no scheduler can send a VM to now: they have no stream, or the scheduler
 * that has it has not recorded a heartbeat for so long that it may hang, or they have not reported
 * since an era has begun. Hosts that never had a stream are not listed; they have no devices.
 */
export async function listSilentPlacementHosts(
  sql: Queryable,
  { location, schedulerSilentMs }: { location: string; schedulerSilentMs: number },
): Promise<string[]> {
  // Almost always all are empty, and small indexes show it.
  const [found] = await sql<{ detached: string[]; awaiting: string[]; silent: string[] }[]>`
    select array(select id from hosts where scheduler_id is null and location = ${location}
        and state = 'ready' and stream_epoch > 0) as detached,
      array(select id from hosts where awaits_era and location = ${location}
        and state = 'ready' and stream_epoch > 0) as awaiting,
      array(select id from schedulers
        where last_seen_at < clock_timestamp() - ${schedulerSilentMs} * interval '1 millisecond') as silent`;
  const { detached = [], awaiting = [], silent = [] } = found ?? {};
  if (silent.length === 0) return [...detached, ...awaiting];
  const held = await sql<{ id: string }[]>`select id from hosts
    where location = ${location} and scheduler_id = any(${silent}::uuid[])`;
  return [...detached, ...awaiting, ...held.map(({ id }) => id)];
}

/** Lists those of the hosts on which no placement can be committed now, because their rows are locked. */
export async function listLockedHosts(
  sql: Queryable,
  hostIds: readonly string[],
): Promise<string[]> {
  if (hostIds.length === 0) return [];
  const free = await sql<{ id: string }[]>`
    select h.id from hosts h join host_revisions r on r.host_id = h.id where h.id = any(${[...hostIds]}::uuid[])
    order by h.id for share of h skip locked for update of r skip locked`;
  const isFree = new Set(free.map(({ id }) => id));
  return hostIds.filter((id) => !isFree.has(id));
}

export async function listHostIds(sql: Queryable, location: string): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`select id from hosts where location = ${location}`;
  return rows.map(({ id }) => id);
}

/** Locations without hosts are left out. */
export async function countHosts(
  sql: Queryable,
  locations: readonly string[],
): Promise<{ location: string; hosts: number }[]> {
  return await sql<{ location: string; hosts: number }[]>`
    select location, count(*)::int as hosts from hosts
    where location = any(${[...locations]}::text[]) group by location`;
}
