import type { Queryable } from '@gantry/db/connect';
import { newId } from '@gantry/model/ids';

/** Inserts hosts, as a scheduler does when they enrol and report. */
export type TestHost = { id: string; name: string; gpuIds: string[]; driveIds: string[] };

type HostPlan = {
  /** The default is a name that is derived from the id. */
  name?: string;
  location?: string;
  model?: string;
  /** There are as many drives as GPUs. */
  gpus?: number;
  /** The number of NUMA nodes over which the devices are spread. */
  nodes?: number;
  sharedStorage?: boolean;
  /** Whether the hosts reach each other, so that the spec of each names VMs on the others. */
  spans?: boolean;
  /** Whether the host has reported its capacity, which is then enough for any VM. */
  reported?: boolean;
};

const CAPACITY = { cores: 128, memoryMib: 4_000_000, networkGbps: 400 };

let made = 0;

/** Inserts one host with two GPUs, unless the plan has another number. */
export async function addHost(sql: Queryable, plan: HostPlan = {}): Promise<TestHost> {
  const [host] = await addHosts(sql, 1, { gpus: 2, nodes: 2, ...plan });
  if (!host) throw new Error('BUG: one host was inserted');
  return host;
}

/** Inserts thousands of hosts in three statements. All devices are ready and free. */
export async function addHosts(
  sql: Queryable,
  count: number,
  plan: HostPlan = {},
): Promise<TestHost[]> {
  const { location = 'eu-north-a', model = 'A40 48GB PCIe', gpus = 1, nodes = 1 } = plan;
  const { sharedStorage = false, spans = false, reported = true } = plan;
  const totals = Array.from({ length: reported ? nodes : 0 }, (_, node) => ({ node, ...CAPACITY }));
  const hosts = Array.from({ length: count }, () => {
    made += 1;
    // Ids of the same millisecond have no order. Different times give the ids the order of creation.
    const id = newId(Date.now() + made);
    return {
      id,
      name: plan.name ?? `host-${id}`,
      gpuIds: Array.from({ length: gpus }, () => newId()),
      driveIds: Array.from({ length: gpus }, () => newId()),
    };
  });
  await sql`insert into hosts (id, location, name, numa_nodes, shared_storage, underlay_address)
    select id, ${location}, name, ${sql.json(totals)}, ${sharedStorage},
      case when ${spans} then '198.18.0.0'::inet + n end
    from unnest(${hosts.map(({ id }) => id)}::uuid[], ${hosts.map(({ name }) => name)}::text[])
      with ordinality as h (id, name, n)`;
  const hostIds = hosts.flatMap(({ id }) => Array.from({ length: gpus }, () => id));
  await sql`insert into devices (id, host_id, kind, pci_address, model, numa_node, iommu_group)
    select id, host_id, 'gpu', '0000:' || to_hex(16 + slot) || ':00.0', ${model}, slot * ${nodes}::int / ${gpus}::int,
      case when ${reported} then slot end
    from (select id, host_id, (n - 1)::int % ${gpus}::int as slot
      from unnest(${hosts.flatMap((host) => host.gpuIds)}::uuid[], ${hostIds}::uuid[]) with ordinality as g (id, host_id, n)) g`;
  await sql`insert into devices (id, host_id, kind, pci_address, size_gb, numa_node)
    select id, host_id, 'drive', '0000:' || to_hex(128 + slot) || ':00.0', 960, slot * ${nodes}::int / ${gpus}::int
    from (select id, host_id, (n - 1)::int % ${gpus}::int as slot
      from unnest(${hosts.flatMap((host) => host.driveIds)}::uuid[], ${hostIds}::uuid[]) with ordinality as g (id, host_id, n)) g`;
  return hosts;
}

/** Connects the host to a scheduler that was last seen `secondsAgo`. Returns the scheduler's id. */
export async function connectHost(
  sql: Queryable,
  { hostId, secondsAgo = 0 }: { hostId: string; secondsAgo?: number },
): Promise<string> {
  const schedulerId = newId();
  await sql`insert into schedulers (id, last_seen_at)
    values (${schedulerId}, now() - make_interval(secs => ${secondsAgo}))`;
  await sql`update hosts set scheduler_id = ${schedulerId} where id = ${hostId}`;
  return schedulerId;
}

/** Inserts a certificate for the host. Returns its serial number. */
export async function certifyHost(sql: Queryable, hostId: string): Promise<string> {
  const serial = newId().replaceAll('-', '');
  await sql`insert into host_certificates (serial, host_id, not_after, created_at)
    values (${serial}, ${hostId}, '2030-01-31T12:00:00Z', '2029-01-31T12:00:00Z')`;
  return serial;
}
