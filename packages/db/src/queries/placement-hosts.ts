import type { Queryable } from '../connect.ts';
import type { NumaNodeTotals } from '../schema/hosts.ts';

/** What placing knows of hosts, as set-based reads: a location of ten thousand is four statements. */

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
  /** The transaction that last changed anything placing looks at. */
  changed_xid: string;
};

type DeviceRow = {
  id: string;
  host_id: string;
  pci_address: string;
  numa_node: number;
  state: string;
  quarantine_reason: string;
  blocked: boolean;
  vm_id: string | null;
};
export type PlacementGpuRow = DeviceRow & {
  model: string;
  pcie_switch: string;
  iommu_group: number | null;
  nvlink_peer: string;
};
export type PlacementDriveRow = DeviceRow & { size_gb: number };

/** What a VM type consists of. */
export type TypeAmounts = {
  cpu_cores: number;
  memory_gb: number;
  disk_gb: number;
  disk_count: number;
  gpu_count: number;
  gpu_type: string;
  network_gbps: number;
  may_split: boolean;
};

export type PlacementHostRows = {
  hosts: PlacementHostRow[];
  gpus: PlacementGpuRow[];
  drives: PlacementDriveRow[];
  vms: (TypeAmounts & { vm_id: string; host_id: string })[];
};

/** Of a location or of any (null): all its hosts, or those of them that are named. */
export type HostSelection = { location: string | null; hostIds: readonly string[] | null };

/** Several statements: they agree with each other in a transaction of repeatable reads. */
export async function readPlacementHosts(
  sql: Queryable,
  selection: HostSelection,
): Promise<PlacementHostRows> {
  const [hosts, gpus, drives, vms] = await Promise.all([
    sql<PlacementHostRow[]>`
      select h.id, h.name, h.location, h.state, h.admin_state, h.fenced_at is not null as fenced, h.shared_storage,
        h.drift <> '{}' as drifted, h.numa_nodes, r.changed_xid::text
      from hosts h join host_revisions r on r.host_id = h.id where ${selected(sql, selection)} order by h.name`,
    sql<PlacementGpuRow[]>`
      select g.id, g.host_id, g.pci_address, g.model, g.numa_node, g.pcie_switch, g.iommu_group, g.nvlink_peer,
        g.state, g.quarantine_reason, g.blocked, c.vm_id
      from gpus g join hosts h on h.id = g.host_id left join gpu_claims c on c.gpu_id = g.id
      where ${selected(sql, selection)} order by g.host_id, g.pci_address`,
    sql<PlacementDriveRow[]>`
      select d.id, d.host_id, d.pci_address, d.size_gb, d.numa_node, d.state, d.quarantine_reason, d.blocked,
        c.vm_id
      from drives d join hosts h on h.id = d.host_id left join drive_claims c on c.drive_id = d.id
      where ${selected(sql, selection)} order by d.host_id, d.pci_address`,
    sql<PlacementHostRows['vms']>`
      select p.vm_id, p.host_id, t.cpu_cores, t.memory_gb, t.disk_gb, t.disk_count, t.gpu_count, t.gpu_type, t.network_gbps,
        t.may_split
      from placements p join hosts h on h.id = p.host_id join vms v on v.id = p.vm_id join vm_types t on t.name = v.type
      where ${selected(sql, selection)}`,
  ]);
  return { hosts, gpus, drives, vms };
}

/** A part of each statement for each case, so that none is planned for the other. */
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
