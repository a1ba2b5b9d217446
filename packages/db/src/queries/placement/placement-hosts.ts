import type { DeviceKind } from '@gantry/model/host-states';
import type { Queryable } from '../../connect.ts';
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
  drifted: boolean;
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
  vms: (TypeAmounts & { vm_id: string; host_id: string })[];
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
        h.drift <> '{}' as drifted, h.numa_nodes, r.changed_xid::text
      from hosts h join host_revisions r on r.host_id = h.id where ${selected(sql, selection)} order by h.name`,
    sql<PlacementDeviceRow[]>`
      select d.id, d.host_id, d.kind, d.pci_address, d.numa_node, d.model, d.size_gb, d.pcie_switch, d.iommu_group,
        d.nvlink_peer, d.state, d.quarantine_reason, d.blocked, c.vm_id
      from devices d join hosts h on h.id = d.host_id left join device_claims c on c.device_id = d.id
      where ${selected(sql, selection)} order by d.host_id, d.pci_address`,
    sql<PlacementHostRows['vms']>`
      select p.vm_id, p.host_id, ${typeAmounts(sql)}
      from placements p join hosts h on h.id = p.host_id join vms v on v.id = p.vm_id join vm_types t on t.name = v.type
      where ${selected(sql, selection)}`,
  ]);
  return { hosts, devices, vms };
}

/** Each case has its own condition, so that each gets its own plan. */
function selected(sql: Queryable, { location, hostIds }: HostSelection) {
  const there = location === null ? sql`true` : sql`h.location = ${location}`;
  return hostIds === null ? there : sql`${there} and h.id = any(${[...hostIds]}::uuid[])`;
}

export async function countHosts(sql: Queryable, location: string): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::integer as count from hosts where location = ${location}`;
  return row?.count ?? 0;
}

export async function listHostIds(sql: Queryable, location: string): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`select id from hosts where location = ${location}`;
  return rows.map(({ id }) => id);
}
