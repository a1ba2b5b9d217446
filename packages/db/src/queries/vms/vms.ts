import type { OnHostFailure } from '@gantry/model/states';
import type { VmState } from '@gantry/model/vm-life/states';
import type postgres from 'postgres';
import type { Queryable } from '../../connect.ts';
import { direction, inPage, type NamedPageBounds, pageOrder } from '../page-bounds.ts';

export type VmDiskRow = {
  id: string;
  name: string;
  type: string;
  size: string;
  location: string;
  block_size: number;
  created_at: string;
  updated_at: string;
  serial_number: string;
  attachment_type: string;
  mode: string;
};

export type VmInterfaceRow = {
  id: string;
  name: string;
  network: string;
  subnet: string;
  mac_address: string;
  private_address: string | null;
  public_address: string | null;
  public_address_id: string | null;
  /** It is attached to the interface also while the VM is stopped. */
  is_reserved: boolean;
  wants_public_ipv4: boolean;
};

export type VmRow = {
  id: string;
  project_id: string;
  name: string;
  type: string;
  location: string;
  state: VmState;
  generation: string;
  created_at: Date;
  updated_at: Date;
  nested_virtualization: boolean;
  tags: Record<string, string>;
  on_host_failure: OnHostFailure;
  disks: VmDiskRow[];
  network_interfaces: VmInterfaceRow[];
};

/**
 * Selects the VMs whose ids `found` selects. The other tables are read once for all of them: a subquery for each VM would
 * read the whole of a small table for each VM, because PostgreSQL reads a table of a few pages without an index. The ids
 * are one value, so that PostgreSQL always plans for a few VMs.
 */
export const selectVms = (sql: Queryable, found: postgres.PendingQuery<postgres.Row[]>) => sql`
  with found as materialized (select array(${found}) as ids)
  select v.id, v.project_id, v.name, v.type, v.location, v.state, v.generation, v.created_at, v.updated_at, v.tags,
    v.on_host_failure,
    v.type = any(array(select name from vm_types where nested_virtualization)) as nested_virtualization,
    coalesce(x.disks, '[]') as disks, coalesce(y.network_interfaces, '[]') as network_interfaces
  from vms v
  left join (
    select a.vm_id, json_agg(disk order by a.attachment_type desc, a.created_at, d.id) as disks
    from disk_attachments a join disks d on d.id = a.disk_id cross join lateral (select d.id, d.name, d.type, d.size,
      d.location, d.block_size, d.created_at, d.updated_at, d.serial_number, a.attachment_type, a.mode) disk
    where a.vm_id = any((select ids from found)::uuid[]) and a.desired_state = 'attached' group by a.vm_id
  ) x on x.vm_id = v.id
  left join (
    select n.vm_id, json_agg(interface order by n.name) as network_interfaces
    from network_interfaces n
    left join address_claims c on c.network_interface_id = n.id
    left join public_addresses p on p.network_interface_id = n.id
    left join reserved_addresses r on r.network_interface_id = n.id
    left join public_addresses q on q.id = r.public_address_id
    cross join lateral (select n.id, n.name, n.network_id as network, n.subnet_id as subnet, n.mac_address,
      host(c.address) as private_address, host(coalesce(q.address, p.address)) as public_address,
      coalesce(r.id, p.id) as public_address_id, r.id is not null as is_reserved, n.wants_public_ipv4) interface
    where n.vm_id = any((select ids from found)::uuid[]) group by n.vm_id
  ) y on y.vm_id = v.id
  where v.id = any((select ids from found)::uuid[])`;

export type VmKey = { projectId: string; vmId: string };

/** Returns the VMs in the order of the keys; undefined if the project of the key does not have the VM. */
export async function readVms(
  sql: Queryable,
  keys: readonly VmKey[],
): Promise<(VmRow | undefined)[]> {
  // In a subquery, the planner does not see how many ids there are, so one plan serves every number of them.
  const ids = sql`select unnest(${keys.map(({ vmId }) => vmId)}::uuid[])`;
  const rows = await sql<VmRow[]>`${selectVms(sql, ids)}`;
  const byId = new Map(rows.map((row) => [row.id, row]));
  return keys.map(({ projectId, vmId }) => {
    const row = byId.get(vmId);
    return row?.project_id === projectId ? row : undefined;
  });
}

/** Reads a VM as `selectVms` does, which would cost more for a single one. */
export async function readVm(
  sql: Queryable,
  { projectId, vmId }: VmKey,
): Promise<VmRow | undefined> {
  const [row] = await sql<VmRow[]>`
    select v.id, v.project_id, v.name, v.type, v.location, v.state, v.generation, v.created_at, v.updated_at, v.tags,
      v.on_host_failure,
      v.type = any(array(select name from vm_types where nested_virtualization)) as nested_virtualization,
      (select coalesce(json_agg(json_build_object('id', d.id, 'name', d.name, 'type', d.type, 'size', d.size,
          'location', d.location, 'block_size', d.block_size, 'created_at', d.created_at, 'updated_at', d.updated_at,
          'serial_number', d.serial_number, 'attachment_type', a.attachment_type, 'mode', a.mode)
          order by a.attachment_type desc, a.created_at, d.id), '[]')
        from disk_attachments a join disks d on d.id = a.disk_id
        where a.vm_id = v.id and a.desired_state = 'attached') as disks,
      (select coalesce(json_agg(json_build_object('id', n.id, 'name', n.name, 'network', n.network_id,
          'subnet', n.subnet_id, 'mac_address', n.mac_address, 'private_address', host(c.address),
          'public_address', host(coalesce(q.address, p.address)), 'public_address_id', coalesce(r.id, p.id),
          'is_reserved', r.id is not null, 'wants_public_ipv4', n.wants_public_ipv4) order by n.name), '[]')
        from network_interfaces n
        left join address_claims c on c.network_interface_id = n.id
        left join public_addresses p on p.network_interface_id = n.id
        left join reserved_addresses r on r.network_interface_id = n.id
        left join public_addresses q on q.id = r.public_address_id
        where n.vm_id = v.id) as network_interfaces
    from vms v where v.project_id = ${projectId} and v.id = ${vmId}`;
  return row;
}

/** Reads the VM and locks it until the transaction ends. */
export async function lockVm(
  sql: Queryable,
  { projectId, vmId }: VmKey,
): Promise<VmRow | undefined> {
  // The lock has its own statement: a statement's snapshot is older than a lock it waits for.
  await sql`select from vms where project_id = ${projectId} and id = ${vmId} for update`;
  return await readVm(sql, { projectId, vmId });
}

export type VmFilter = NamedPageBounds & {
  projectId: string;
  ids: string[] | null;
  names: string[] | null;
  types: string[] | null;
  locations: string[] | null;
  states: string[] | null;
  /** Each element is one tag; a VM must have all of them. */
  tags: Record<string, string>[];
  limit: number;
};

/**
 * The ids of the VMs with the tags. The project is part of the indexed value, so that the tags of other
 * tenants cost nothing. The condition on `tags` is that of the index `vms_tags`.
 */
const selectTagged = (sql: Queryable, { projectId, tags }: VmFilter) => sql`
  select t.id from vms t where t.tags <> '{}'::jsonb
    ${tags.map(
      (tag) => sql`and jsonb_set('{}'::jsonb, array[t.project_id::text], t.tags)
        @> ${JSON.stringify({ [projectId]: tag })}::text::jsonb`,
    )}`;

/**
 * The ids of the page are found first, by an index that fits the filters, and then the VMs are read.
 * Each filter is part of the statement only if it applies: with "is null or", the planner would choose
 * one plan for all of them.
 */
export async function listVms(sql: Queryable, filter: VmFilter): Promise<VmRow[]> {
  const { projectId, ids, names, types, locations, states, tags, limit } = filter;
  const toward = direction(sql, filter);
  const order = pageOrder(sql, filter);
  const inScope = sql`v.project_id = ${projectId} and ${inPage(sql, filter, sql`v.`)}
    ${ids === null ? sql`` : sql`and v.id = any(${ids}::uuid[])`}
    ${names === null ? sql`` : sql`and v.name = any(${names}::text[])`}
    ${types === null ? sql`` : sql`and v.type = any(${types}::text[])`}
    ${locations === null ? sql`` : sql`and v.location = any(${locations}::text[])`}
    ${tags.length === 0 ? sql`` : sql`and v.id = any(array(${selectTagged(sql, filter)}))`}`;
  // A page of each state is read from the index, so rare states are found without reading the others. With
  // "=", the planner assumes that the state is a common one, and searches all VMs of the project. By name, the index
  // on the name is read in its order.
  const found =
    states === null || filter.byName
      ? sql`select v.id, v.name from vms v where ${inScope} ${states === null ? sql`` : sql`and v.state = any(${states}::text[])`}`
      : sql`select page.id from unnest(${states}::text[]) s (state) cross join lateral (select v.id from vms v
          where ${inScope} and v.state between s.state and s.state order by v.state ${toward}, v.id ${toward} limit ${limit}) page`;
  return await sql<VmRow[]>`
    ${selectVms(sql, sql`select id from (${found}) pages order by ${order} limit ${limit}`)}
    order by ${pageOrder(sql, filter, sql`v.`)}`;
}

/** Requests a power action: sets the desired state and increments the generation. */
export async function updateVmPower(
  sql: Queryable,
  change: {
    vmId: string;
    desiredState: 'running' | 'stopped';
    powerAction: 'START' | 'STOP' | 'RESET';
  },
): Promise<void> {
  await sql`update vms set desired_state = ${change.desiredState}, power_action = ${change.powerAction},
    generation = greatest(generation + 1, count_floor()),
    avoided_hosts = '{}', build_failure = null, updated_at = now() where id = ${change.vmId}`;
}

/**
 * Requests that the VM is taken down and started on another host, `hostId` if it is given. Its present place is avoided
 * only as long as it fits elsewhere; see place/decide.ts.
 */
export async function updateVmMoving(
  sql: Queryable,
  { vmId, hostId }: { vmId: string; hostId: string | null },
): Promise<void> {
  await sql`update vms v set relocating = true, power_action = 'START', build_failure = null,
      generation = greatest(generation + 1, count_floor()), updated_at = now(),
      avoided_hosts = array(select h.id from hosts h where h.location = v.location and case
        when ${hostId}::uuid is null then h.id = p.host_id else h.id <> ${hostId} end order by h.id)
    from placements p where v.id = ${vmId} and p.vm_id = v.id`;
}

export async function updateVmDeleted(sql: Queryable, vmId: string): Promise<void> {
  await sql`update vms set desired_state = 'deleted', updated_at = now() where id = ${vmId}`;
}

export async function updateVmDefinition(
  sql: Queryable,
  change: {
    vmId: string;
    name: string;
    type: string;
    tags: Record<string, string>;
    onHostFailure: OnHostFailure;
  },
): Promise<void> {
  await sql`update vms set name = ${change.name}, type = ${change.type},
    tags = ${JSON.stringify(change.tags)}::text::jsonb, on_host_failure = ${change.onHostFailure}, updated_at = now() where id = ${change.vmId}`;
}
