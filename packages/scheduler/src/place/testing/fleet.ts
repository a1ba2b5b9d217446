import { connect, type Sql, type Transaction } from '@gantry/db/connect';
import { listTakenAddresses } from '@gantry/db/queries/networks/addresses';
import type { Lease } from '@gantry/db/queries/placement/leases';
import { insertOrganization, insertProject } from '@gantry/db/queries/tenants/tenants';
import { newId } from '@gantry/model/ids';
import { createAddressAllocator } from '../address-allocator.ts';
import { createHostCache } from '../host-cache.ts';
import type { Placer } from '../place-pending.ts';

/** What placing is tested on: a project whose VMs wait to be placed, and hosts to place them on. */

export type FleetHost = { id: string; gpuIds: string[]; driveIds: string[] };

type HostPlan = {
  location?: string;
  model?: string;
  gpus?: number;
  nodes?: number;
  sharedStorage?: boolean;
  /** Whether they reach each other, so that each is told of VMs on the others. */
  spans?: boolean;
};

/** Set-based, for thousands at once. As many drives as GPUs, all ready and free, room for anything. */
export async function addHosts(sql: Sql, count: number, plan: HostPlan = {}): Promise<FleetHost[]> {
  const { location = 'eu-north-a', model = 'A40 48GB PCIe', gpus = 1, nodes = 1 } = plan;
  const totals = Array.from({ length: nodes }, (_, node) => ({
    node,
    cores: 128,
    memoryMib: 4_000_000,
    networkGbps: 400,
  }));
  const hosts = Array.from({ length: count }, () => ({
    id: newId(),
    gpuIds: Array.from({ length: gpus }, () => newId()),
    driveIds: Array.from({ length: gpus }, () => newId()),
  }));
  await sql`insert into hosts (id, location, name, numa_nodes, shared_storage, underlay_address)
    select id, ${location}, 'host-' || id, ${sql.json(totals)}, ${plan.sharedStorage ?? false},
      case when ${plan.spans ?? false} then '198.18.0.0'::inet + n end
    from unnest(${hosts.map(({ id }) => id)}::uuid[]) with ordinality as h (id, n)`;
  const hostIds = hosts.flatMap(({ id }) => Array.from({ length: gpus }, () => id));
  await sql`insert into devices (id, host_id, kind, pci_address, model, numa_node, iommu_group)
    select id, host_id, 'gpu', '0000:' || to_hex(16 + slot) || ':00.0', ${model}, slot * ${nodes}::int / ${gpus}::int, slot
    from (select id, host_id, (n - 1)::int % ${gpus}::int as slot
      from unnest(${hosts.flatMap((host) => host.gpuIds)}::uuid[], ${hostIds}::uuid[]) with ordinality as g (id, host_id, n)) g`;
  await sql`insert into devices (id, host_id, kind, pci_address, size_gb, numa_node)
    select id, host_id, 'drive', '0000:' || to_hex(128 + slot) || ':00.0', 960, slot * ${nodes}::int / ${gpus}::int
    from (select id, host_id, (n - 1)::int % ${gpus}::int as slot
      from unnest(${hosts.flatMap((host) => host.driveIds)}::uuid[], ${hostIds}::uuid[]) with ordinality as g (id, host_id, n)) g`;
  return hosts;
}

export async function addProject(sql: Sql): Promise<string> {
  const organizationId = newId();
  const projectId = newId();
  await insertOrganization(sql, {
    id: organizationId,
    name: `o-${organizationId}`,
    payment_customer_id: organizationId,
  });
  await insertProject(sql, { id: projectId, name: 'main', organization_id: organizationId });
  await sql`update quotas set max = 10000000 where project_id = ${projectId}`;
  return projectId;
}

type VmPlan = { projectId: string; location?: string; type?: string };

/** Wanted, as the api writes them: with an OS disk, an interface and an unfinished operation. Oldest first. */
export async function addVms(
  sql: Sql,
  count: number,
  { projectId, location = 'eu-north-a', type = 'a40.1x' }: VmPlan,
): Promise<string[]> {
  const ids = Array.from({ length: count }, () => newId()).sort();
  await sql.begin((tx) =>
    Promise.all([
      tx`insert into vms (id, project_id, name, type, location, image_id, ssh_public_key)
        select id, ${projectId}, 'vm-' || id, ${type}, ${location}, (select id from images where name = 'debian-12'), 'key'
        from unnest(${ids}::uuid[]) as v (id)`,
      tx`insert into disks (id, project_id, kind, name, type, size, size_gib, location, block_size, serial_number)
        select id, ${projectId}, 'os', 'vm-' || id, 'persistent-ssd', '128GiB', 128, ${location}, 0, id
        from unnest(${ids}::uuid[]) as v (id)`,
      tx`insert into disk_attachments (disk_id, vm_id, attachment_type, mode, exclusive)
        select id, id, 'os', 'read-write', true from unnest(${ids}::uuid[]) as v (id)`,
      tx`insert into network_interfaces (id, vm_id, name, network_id, subnet_id, mac_address)
        select v.id, v.id, 'eth0', s.network_id, s.id, v.id::text from unnest(${ids}::uuid[]) as v (id), lateral
          (select id, network_id from subnets where project_id = ${projectId} and location = ${location} limit 1) s`,
      tx`insert into operations (id, project_id, resource_type, resource_id, name, state, request, started_at, deadline_at)
        select id, ${projectId}, 'vm', id, 'CREATE', 'IN_PROGRESS', '{}', now(), now() + interval '10 minutes'
        from unnest(${ids}::uuid[]) as v (id)`,
    ]),
  );
  return ids;
}

/** Nothing is left of these: their devices are free again. */
export async function removeVms(sql: Sql, vmIds: readonly string[]): Promise<void> {
  const ids = [...vmIds];
  await sql.begin((tx) =>
    Promise.all([
      tx`update public_addresses set network_interface_id = null where network_interface_id = any(${ids}::uuid[])`,
      tx`delete from address_claims where network_interface_id = any(${ids}::uuid[])`,
      ...freeDevices(tx, ids),
      tx`delete from vms where id = any(${ids}::uuid[])`,
      tx`delete from disks where id = any(${ids}::uuid[])`,
    ]),
  );
}

/** As after a stop: the devices are free, the private address stays. */
export async function unplaceVms(sql: Sql, vmIds: readonly string[]): Promise<void> {
  await sql.begin((tx) => Promise.all(freeDevices(tx, [...vmIds])));
}

function freeDevices(tx: Transaction, ids: string[]) {
  return [
    tx`delete from device_claims where vm_id = any(${ids}::uuid[])`,
    tx`delete from placements where vm_id = any(${ids}::uuid[])`,
    tx`update vms set placed = false where id = any(${ids}::uuid[])`,
  ];
}

/** The VM is wanted again, after it was stopped and unplaced. */
export async function startVms(sql: Sql, vmIds: readonly string[]): Promise<void> {
  await sql`update vms set observed_state = 'stopped', observed_generation = generation where id = any(${[...vmIds]}::uuid[])`;
  await sql`update operations set state = 'SUCCEEDED', completed_at = now()
    where resource_id = any(${[...vmIds]}::uuid[]) and state = 'IN_PROGRESS'`;
  for (const id of vmIds) {
    await sql`update vms set power_action = 'START', generation = generation + 1 where id = ${id}`;
    await sql`insert into operations (id, project_id, resource_type, resource_id, name, state, request, started_at, deadline_at)
      select ${newId()}, project_id, 'vm', id, 'START', 'IN_PROGRESS', '{}', now(), now() + interval '10 minutes'
      from vms where id = ${id}`;
  }
}

export function makePlacer(sql: Sql, lease: Lease): Placer {
  const hostCache = createHostCache({ sql, location: lease.location });
  return {
    sql,
    lease,
    hostCache,
    addresses: createAddressAllocator((ranges) => listTakenAddresses(sql, ranges)),
  };
}

/** Something happens between what the placer decides next and its commit. */
export function meanwhile({ addresses }: Placer, happens: () => Promise<unknown>): void {
  const { open } = addresses;
  addresses.open = async (needs) => {
    addresses.open = open;
    const opened = await open(needs);
    await happens();
    return opened;
  };
}

/** A holder that nobody disputes. */
export async function holdLocation(sql: Sql, location = 'eu-north-a'): Promise<Lease> {
  const holder = newId();
  const [row] = await sql<{ epoch: number }[]>`
    insert into leases (location, holder, epoch, expires_at) values (${location}, ${holder}, 1, now() + interval '1 hour')
    on conflict (location) do update set holder = excluded.holder, epoch = leases.epoch + 1, expires_at = excluded.expires_at
    returning epoch::int`;
  return { location, holder, epoch: row?.epoch ?? 0 };
}

/** Statements in this database that wait for a lock. */
export async function countWaiting(sql: Sql | Transaction): Promise<number> {
  const [row] = await sql<{ count: number }[]>`select count(*)::int as count from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`;
  return row?.count ?? 0;
}

/** A pool of its own, as another process would have. */
export function otherProcess(url: string): Sql {
  return connect({ url, name: 'gantry-other', maxConnections: 3 });
}
