import type { GpuUse, HostAdminState, HostState } from '@gantry/model/host-states';
import type { Queryable } from '../../connect.ts';

/** What operators see of all GPUs at once, with few statements and short rows. */

/** Joins the GPUs `d` of hosts `h` with the VMs `v` and orphans `o` that have them. */
const fromGpus = (sql: Queryable) => sql`
  from hosts h join devices d on d.host_id = h.id and d.kind = 'gpu'
    left join device_claims c on c.device_id = d.id left join orphans o on o.id = c.orphan_id
    left join vms v on v.id = c.vm_id`;

/** The conditions under which placement considers a host and a device. */
const useOfGpu = (sql: Queryable) => sql`
  case when v.desired_state in ('stopped', 'deleted') or v.abandoned or v.relocating then 'cleaning'
    when c.device_id is not null then 'sold'
    when d.state <> 'ready' or d.blocked or d.quarantine_reason <> '' or d.iommu_group is null then 'blocked'
    when h.state <> 'ready' or h.fenced_at is not null or h.admin_state <> 'active' or h.drift <> '{}' or h.trouble <> ''
      or h.awaits_era then 'blocked'
    else 'free' end`;

export type FleetHostRow = {
  id: string;
  name: string;
  location: string;
  labels: Record<string, string>;
  state: HostState;
  admin_state: HostAdminState;
  fenced: boolean;
  drifted: boolean;
  trouble: string;
  awaits_era: boolean;
};

/** GPUs of the same model behind the same switch, in the order of their addresses. */
export type FleetGroupRow = {
  host_id: string;
  numa_node: number;
  pcie_switch: string;
  model: string;
  addresses: string[];
  uses: GpuUse[];
  /** Both are empty if no VM has the GPU. */
  vm_ids: string[];
  vm_names: string[];
};

export type FleetSelection = { location: string | null; hostIds: string[] | null };
export type FleetRows = { hosts: FleetHostRow[]; groups: FleetGroupRow[] };

export async function readFleetGpus(
  sql: Queryable,
  { location, hostIds }: FleetSelection,
): Promise<FleetRows> {
  const selected = sql`true ${location === null ? sql`` : sql`and h.location = ${location}`}
    ${hostIds === null ? sql`` : sql`and h.id = any(${hostIds}::uuid[])`}`;
  const [hosts, groups] = await Promise.all([
    sql<FleetHostRow[]>`
      select h.id, h.name, h.location, h.labels, h.state, h.admin_state, h.fenced_at is not null as fenced,
        h.drift <> '{}' as drifted, h.trouble, h.awaits_era
      from hosts h where ${selected} order by h.location, h.name`,
    sql<FleetGroupRow[]>`
      select g.host_id, g.numa_node, g.pcie_switch, g.model, array_agg(g.pci_address order by g.pci_address) as addresses,
        array_agg(g.use order by g.pci_address) as uses, array_agg(coalesce(g.vm_id, '') order by g.pci_address) as vm_ids,
        array_agg(coalesce(g.vm_name, '') order by g.pci_address) as vm_names
      from (select h.id as host_id, d.numa_node, d.pcie_switch, d.model, d.pci_address, ${useOfGpu(sql)} as use,
          coalesce(c.vm_id, o.vm_id)::text as vm_id, coalesce(v.name, o.name) as vm_name
        ${fromGpus(sql)} where ${selected}) g
      group by g.host_id, g.numa_node, g.pcie_switch, g.model
      order by g.host_id, g.numa_node, g.pcie_switch, min(g.pci_address)`,
  ]);
  return { hosts, groups };
}

export type CapacityRow = {
  location: string;
  model: string;
  free: number;
  sold: number;
  cleaning: number;
  blocked: number;
  free_on_whole_hosts: number;
};

/** Counts the GPUs of each location and model as they are now. */
const countGpus = (sql: Queryable) => sql`
  select location, model, sum(free)::int as free, sum(sold)::int as sold, sum(cleaning)::int as cleaning,
    sum(blocked)::int as blocked, (coalesce(sum(free) filter (where free = gpus), 0))::int as free_on_whole_hosts
  from (select g.location, g.model, g.host_id, count(*) as gpus, count(*) filter (where g.use = 'free') as free,
      count(*) filter (where g.use = 'sold') as sold, count(*) filter (where g.use = 'cleaning') as cleaning,
      count(*) filter (where g.use = 'blocked') as blocked
    from (select h.location, d.model, h.id as host_id, ${useOfGpu(sql)} as use ${fromGpus(sql)}) g
    group by g.location, g.model, g.host_id) per_host
  group by location, model`;

export async function readCapacity(sql: Queryable): Promise<CapacityRow[]> {
  return await sql<CapacityRow[]>`${countGpus(sql)} order by location, model`;
}

export type HostCounts = {
  hosts: number;
  lost: number;
  cordoned: number;
  drifted: number;
  troubled: number;
};

export async function countHostsByState(sql: Queryable): Promise<HostCounts> {
  const [row] = await sql<HostCounts[]>`
    select count(*)::int as hosts, count(*) filter (where state <> 'ready')::int as lost,
      count(*) filter (where admin_state <> 'active')::int as cordoned,
      count(*) filter (where drift <> '{}')::int as drifted, count(*) filter (where trouble <> '')::int as troubled
    from hosts`;
  if (!row) throw new Error('BUG: a count returned no row');
  return row;
}

/** How far apart two samples are. */
const SAMPLE_MINUTES = 5;

/**
 * Stores a sample of the present capacity unless there is one of these five minutes, which another scheduler may have
 * stored. The first condition spares all others the count.
 */
export async function insertCapacitySample(sql: Queryable): Promise<void> {
  const at = sql`date_bin(${SAMPLE_MINUTES}::int * interval '1 minute', now(), 'epoch')`;
  await sql`insert into capacity_samples (at, location, model, free, sold, cleaning, blocked, free_on_whole_hosts)
    select ${at}, n.location, n.model, n.free, n.sold, n.cleaning, n.blocked, n.free_on_whole_hosts
    from (${countGpus(sql)}) n where not exists (select from capacity_samples where at = ${at})
    on conflict do nothing`;
}

export type CapacitySampleRow = CapacityRow & { at: Date };

/**
 * Lists samples, oldest first. Of a long time only every n-th is listed, so that there are at most `points` of each
 * location and model.
 */
export async function listCapacitySamples(
  sql: Queryable,
  filter: { location: string | null; model: string | null; hours: number; points: number },
): Promise<CapacitySampleRow[]> {
  const stepMinutes =
    Math.ceil((filter.hours * 60) / SAMPLE_MINUTES / filter.points) * SAMPLE_MINUTES;
  return await sql<CapacitySampleRow[]>`
    select at, location, model, free, sold, cleaning, blocked, free_on_whole_hosts from capacity_samples
    where at = any(array(select generate_series(
        date_bin(${stepMinutes}::int * interval '1 minute', now() - ${filter.hours}::int * interval '1 hour', 'epoch'),
        now(), ${stepMinutes}::int * interval '1 minute')))
      ${filter.location === null ? sql`` : sql`and location = ${filter.location}`}
      ${filter.model === null ? sql`` : sql`and model = ${filter.model}`}
    order by at, location, model`;
}
