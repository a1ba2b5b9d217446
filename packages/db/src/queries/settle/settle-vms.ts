import type { DeviceKind } from '@gantry/model/host-states';
import type { OnHostFailure, OperationName } from '@gantry/model/states';
import type { Queryable } from '../../connect.ts';
import type { BuildFailure } from '../../schema/vms.ts';
import { erasingTime } from '../operations/operations.ts';

/** The VMs of one host, with everything that a report is compared with. */

/** The serial number is empty if the device has none or it is not known. */
export type ClaimedDevice = { id: string; kind: DeviceKind; pci_address: string; serial: string };

export type PlacedVmRow = {
  id: string;
  project_id: string;
  organization_id: string;
  type: string;
  region: string;
  revision: string;
  generation: string;
  observed_generation: string;
  observed_state: 'none' | 'running' | 'stopped' | 'crashed' | 'failed';
  desired_state: 'running' | 'stopped' | 'deleted';
  abandoned: boolean;
  reachable: boolean;
  should_run: boolean;
  /** It is to be placed on another host. */
  relocating: boolean;
  /** Hosts that could not build it for the unfinished request. */
  avoided_hosts: string[];
  operation: OperationName | null;
  operation_id: string | null;
  on_host_failure: OnHostFailure;
  /** Whether it has an open meter interval. */
  metered: boolean;
  devices: ClaimedDevice[];
  attachments: {
    disk_id: string;
    desired_state: 'attached' | 'detached';
    attached: boolean;
    size_gib: number;
    observed_size_gib: number | null;
    /** Whether the host stores it, or has a disk that no host stores. */
    kept_here: boolean;
    /** Whether another host stores it, also if this one reaches it through shared storage. */
    kept_elsewhere: boolean;
    /** Whether a storage cluster stores it. */
    in_pool: boolean;
  }[];
};

/** Locks the VMs in the order of ids, as every transaction does. VMs are locked before hosts. */
export async function lockPlacedVms(sql: Queryable, hostId: string): Promise<PlacedVmRow[]> {
  // Both are sent at once. The second runs after the first has its locks, so its snapshot is newer.
  const [locked, rows] = await Promise.all([
    sql<{ id: string }[]>`
    select v.id from vms v join placements p on p.vm_id = v.id where p.host_id = ${hostId}
    order by v.id for update of v`,
    sql<PlacedVmRow[]>`
    select v.id, v.project_id, j.organization_id, v.type, l.region, v.revision, v.generation, v.observed_generation,
      v.observed_state, v.desired_state, v.abandoned, v.reachable, v.on_host_failure,
      vm_should_run(v.desired_state, v.abandoned, v.observed_state, v.observed_generation, v.generation)
        and not v.relocating as should_run, v.relocating, v.avoided_hosts,
      o.name as operation, o.id as operation_id,
      exists (select from meter_intervals m where m.resource_id = v.id and m.ended_at is null) as metered,
      (select coalesce(json_agg(json_build_object('id', d.id, 'kind', d.kind, 'pci_address', d.pci_address,
          'serial', d.serial)), '[]')
        from device_claims c join devices d on d.id = c.device_id where c.vm_id = v.id) as devices,
      (select coalesce(json_agg(json_build_object('disk_id', a.disk_id, 'desired_state', a.desired_state,
          'attached', a.attached, 'size_gib', d.size_gib, 'observed_size_gib', d.observed_size_gib,
          'in_pool', d.pool_id is not null, 'kept_here',
            d.pool_id is not null or coalesce(d.host_id = p.host_id or not a.exclusive and k.shared_storage, false),
          'kept_elsewhere', coalesce(d.host_id <> p.host_id, false))
          order by a.disk_id), '[]')
        from disk_attachments a join disks d on d.id = a.disk_id left join hosts k on k.id = d.host_id
        where a.vm_id = v.id) as attachments
    from placements p join vms v on v.id = p.vm_id join projects j on j.id = v.project_id
    join locations l on l.name = v.location
    left join operations o on o.resource_id = v.id and o.state = 'IN_PROGRESS'
    where p.host_id = ${hostId} order by v.id`,
  ]);
  const ids = new Set(locked.map(({ id }) => id));
  return rows.filter(({ id }) => ids.has(id));
}

export async function updateObservedVm(
  sql: Queryable,
  {
    vmId,
    observedState,
  }: { vmId: string; observedState: 'running' | 'stopped' | 'crashed' | 'failed' },
): Promise<void> {
  await sql`update vms set observed_state = ${observedState}, observed_generation = generation, updated_at = now()
    where id = ${vmId}`;
}

/**
 * Takes a VM down that its host could not build, so that it is placed on another host. The other host has
 * as much time for it as this one had, and this one has the time to erase its drives. Returns false and
 * changes nothing if no other host may take it.
 */
export async function updateVmRelocating(
  sql: Queryable,
  { vmId, hostId, failure }: { vmId: string; hostId: string; failure: BuildFailure },
): Promise<boolean> {
  const { count } =
    await sql`update vms v set relocating = true, avoided_hosts = v.avoided_hosts || ${hostId}::uuid,
      build_failure = ${sql.json({ code: failure.code, message: failure.message })}
    where v.id = ${vmId} and v.desired_state = 'running' and not v.abandoned and exists (select from hosts h
      where h.location = v.location and h.id <> ${hostId} and h.id <> all(v.avoided_hosts) and h.state = 'ready'
        and h.admin_state = 'active' and h.fenced_at is null and h.trouble = '')`;
  if (count === 0) return false;
  await sql`update operations o set deadline_at = now() + (o.deadline_at - p.created_at) + ${erasingTime(sql)}
    from placements p, vms v join vm_types t on t.name = v.type
    where v.id = ${vmId} and p.vm_id = v.id and o.resource_id = v.id and o.state = 'IN_PROGRESS'`;
  return true;
}

/** The VM is gone from the host that could not build it. If it never ran, its OS disk is gone too; a volume stays. */
export async function updateVmRelocated(sql: Queryable, vmId: string): Promise<void> {
  await sql`update disks d set host_id = null, observed_size_gib = null from disk_attachments a, vms v
    where a.disk_id = d.id and a.attachment_type = 'os' and a.vm_id = ${vmId} and v.id = a.vm_id
      and v.observed_state = 'none' and d.pool_id is null`;
  // A VM that an operator moves ran here. If it fits nowhere now, it must not count as running.
  await sql`update vms set relocating = false,
      observed_state = case when observed_state = 'running' then 'stopped' else observed_state end
    where id = ${vmId}`;
}

/**
 * Requests that a VM which has lost its host is started on another one, like START, with a new generation. An unfinished
 * operation that starts the VM goes on, with as much time as it had.
 */
export async function updateVmRestarted(sql: Queryable, vmId: string): Promise<void> {
  await sql`update vms set observed_state = 'crashed', observed_generation = generation,
      generation = greatest(generation + 1, count_floor()), desired_state = 'running', power_action = 'START',
      relocating = false, avoided_hosts = '{}', build_failure = null, updated_at = now() where id = ${vmId}`;
  await sql`update operations set deadline_at = now() + (deadline_at - recorded_at)
    where resource_id = ${vmId} and state = 'IN_PROGRESS'`;
}

/** Raises the generation of a VM to that of its host, or above it if a power action is unfinished. */
export async function updateVmAhead(
  sql: Queryable,
  vm: { vmId: string; generation: string; isUnfinished: boolean },
): Promise<void> {
  await (vm.isUnfinished
    ? sql`update vms set generation = greatest(${vm.generation}::bigint + 1, count_floor()) where id = ${vm.vmId}`
    : sql`update vms set generation = ${vm.generation}, observed_generation = ${vm.generation} where id = ${vm.vmId}`);
}

/** Records that the host has attached the disk, with at least this size. A host stores it unless a storage cluster does. */
export async function updateDiskAttached(
  sql: Queryable,
  disk: { vmId: string; diskId: string; hostId: string; sizeGib: number },
): Promise<void> {
  await Promise.all([
    sql`update disk_attachments set attached = true where vm_id = ${disk.vmId} and disk_id = ${disk.diskId}`,
    sql`update disks set host_id = case when pool_id is null then ${disk.hostId}::uuid end, observed_size_gib = ${disk.sizeGib}
      where id = ${disk.diskId}`,
  ]);
}

export async function removeAttachment(
  sql: Queryable,
  { vmId, diskId }: { vmId: string; diskId: string },
): Promise<void> {
  await sql`delete from disk_attachments where vm_id = ${vmId} and disk_id = ${diskId}`;
}

/** Undoes an unfinished attach operation, including disks that are attached already. */
export async function undoAttachments(sql: Queryable, vmId: string): Promise<void> {
  await sql`update disk_attachments a set desired_state = 'detached'
    where a.vm_id = ${vmId} and a.desired_state = 'attached' and a.disk_id in (
      select (disk ->> 'disk_id')::uuid from operations o, json_array_elements(o.request -> 'attach_disks') disk
      where o.resource_id = ${vmId} and o.name = 'ATTACH_DISKS' and o.state = 'IN_PROGRESS')`;
}

/** Undoes an unfinished detach operation: disks that are still attached stay attached. */
export async function undoDetachments(sql: Queryable, vmId: string): Promise<void> {
  await sql`update disk_attachments set desired_state = 'attached'
    where vm_id = ${vmId} and desired_state = 'detached' and attached`;
}

/** Sets the desired size of a disk that could not grow to its observed size. */
export async function undoGrowth(sql: Queryable, diskId: string): Promise<void> {
  await sql`update disks set size_gib = observed_size_gib, size = observed_size_gib || 'GiB', updated_at = now()
    where id = ${diskId} and desired_state = 'present' and observed_size_gib < size_gib`;
}
