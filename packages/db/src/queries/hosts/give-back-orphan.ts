import type { Queryable, Transaction } from '../../connect.ts';
import { toCloudError } from '../../errors.ts';
import { insertEvents } from '../operations/events.ts';

/**
 * Gives an orphan back to its project: inserts what the database lacks of the VM, and places the VM
 * where it runs. Everything is inserted or nothing. If it cannot be inserted, for example because the
 * project or its quota is gone, the orphan stays and shows the reason.
 */
export async function giveBackOrphan(sql: Queryable, orphanId: string): Promise<void> {
  try {
    await (sql as Transaction).savepoint(async (tx) => {
      const orphan = await readOrphan(tx, orphanId);
      await insertVm(tx, orphan);
      await insertDisks(tx, orphan);
      await insertInterfaces(tx, orphan);
      await place(tx, orphan);
    });
  } catch (error) {
    const problem = toCloudError(error);
    const reason = problem instanceof Error ? problem.message : String(problem);
    await sql`update orphans set decision = null, problem = ${reason.slice(0, 500)} where id = ${orphanId}`;
  }
}

type OrphanDisk = {
  id: string;
  kind: string;
  sizeBytes: string;
  readOnly?: boolean;
  blockSize?: number;
  serialNumber?: string;
  name?: string;
  /** Where it is, if a storage cluster stores it. */
  rbd?: { pool?: string } | null;
  cephfs?: { pool?: string } | null;
};

type Orphan = {
  id: string;
  host_id: string;
  vm_id: string;
  project_id: string;
  name: string;
  type: string;
  location: string;
  generation: string;
  revision: string;
  description: {
    imageId?: string;
    sshPublicKey?: string;
    sshKeys?: string[];
    startupScript?: string;
    shutdownScript?: string;
    userData?: string;
    disks?: OrphanDisk[];
    devices?: { address: string }[];
  };
};

async function readOrphan(sql: Queryable, orphanId: string): Promise<Orphan> {
  const [row] = await sql<Orphan[]>`
    select o.id, o.host_id, o.vm_id, p.id as project_id, o.name, o.type, h.location, o.generation, o.revision,
      o.description
    from orphans o join hosts h on h.id = o.host_id left join projects p on p.id = o.project_id
    where o.id = ${orphanId}`;
  if (!row) throw new Error('the orphan is gone');
  if (!row.project_id) throw new Error('its project does not exist: delete the orphan instead');
  return row;
}

/** A VM that exists and is placed nowhere was stopped in the state that the database went back to. */
async function insertVm(sql: Queryable, orphan: Orphan): Promise<void> {
  const { vm_id: vmId, project_id: projectId, description, generation } = orphan;
  const [known] = await sql<{ placed: boolean; is_of_project: boolean }[]>`
    select placed, project_id = ${projectId} as is_of_project from vms where id = ${vmId} for update`;
  if (known?.placed) throw new Error('its VM is on another host: delete the orphan instead');
  if (known && !known.is_of_project) throw new Error('its VM belongs to another project');
  if (known) {
    await sql`update vms set desired_state = 'running', observed_state = 'running', abandoned = false,
        generation = ${generation}, observed_generation = ${generation}, updated_at = now() where id = ${vmId}`;
    return;
  }
  const name = orphan.name || vmId;
  await sql`insert into vms (id, project_id, name, type, location, image_id, ssh_public_key, startup_script,
      shutdown_script, ssh_keys, user_data, generation, observed_state, observed_generation, revision)
    select ${vmId}, ${projectId},
      case when exists (select from vms where project_id = ${projectId} and name = ${name})
        then left(${name}, 50) || '-' || left(${vmId}, 8) else ${name} end,
      ${orphan.type}, ${orphan.location}, ${description.imageId ?? ''}::uuid, ${description.sshPublicKey ?? ''},
      ${description.startupScript ?? ''}, ${description.shutdownScript ?? ''}, ${description.sshKeys ?? []}::text[], ${description.userData ?? ''},
      ${generation}, 'running', ${generation}, ${orphan.revision}`;
}

/**
 * Returns null if the host stores the disk. The scheduler finds the volume of a disk in a pool, because it has the disk's
 * name, and makes a new key for the host.
 */
async function findPool(
  sql: Queryable,
  { disk, location }: { disk: OrphanDisk; location: string },
): Promise<string | null> {
  const name = disk.rbd?.pool ?? disk.cephfs?.pool;
  if (!name) return null;
  const [pool] = await sql<{ id: string }[]>`
    select id from storage_pools where name = ${name} and location = ${location} order by id limit 1`;
  if (!pool) throw new Error(`its disk ${disk.id} is in the pool ${name}: connect it first`);
  return pool.id;
}

async function insertDisks(sql: Queryable, orphan: Orphan): Promise<void> {
  const { vm_id: vmId, project_id: projectId, host_id: hostId, location } = orphan;
  for (const [index, disk] of (orphan.description.disks ?? []).entries()) {
    const kind = index === 0 ? 'os' : 'data';
    const type = disk.kind === 'DISK_KIND_SHARED_VOLUME' ? 'shared-volume' : 'persistent-ssd';
    const sizeGib = Math.max(1, Math.floor(Number(disk.sizeBytes) / 2 ** 30));
    const poolId = await findPool(sql, { disk, location });
    const isLocal = poolId === null;
    const mode = disk.readOnly ? 'read-only' : 'read-write';
    await sql`insert into disks (id, project_id, kind, name, type, size, size_gib, location, block_size, serial_number,
        observed_size_gib, host_id, pool_id, wants_key)
      values (${disk.id}, ${projectId}, ${kind}, ${disk.name || disk.id}, ${type}, ${`${sizeGib}GiB`}, ${sizeGib},
        ${location}, ${disk.blockSize ?? 0}, ${disk.serialNumber || disk.id}, ${isLocal ? sizeGib : null},
        ${isLocal ? hostId : null}, ${poolId}, ${!isLocal})
      on conflict (id) do nothing`;
    const { count } =
      await sql`select from disks where id = ${disk.id} and project_id = ${projectId}`;
    if (count === 0) throw new Error(`its disk ${disk.id} belongs to another project`);
    await sql`insert into disk_attachments (disk_id, vm_id, attachment_type, mode, exclusive, attached)
      values (${disk.id}, ${vmId}, ${kind}, ${mode}, ${type === 'persistent-ssd' && mode === 'read-write'}, true)
      on conflict do nothing`;
  }
}

async function insertInterfaces(sql: Queryable, orphan: Orphan): Promise<void> {
  const { id, vm_id: vmId, project_id: projectId } = orphan;
  const interfaces = await sql<{ id: string; address: string; subnet_id: string | null }[]>`
    select i.id, host(i.private_address) as address, s.id as subnet_id
    from orphan_interfaces i left join networks w on w.id = i.network_id and w.project_id = ${projectId}
    left join subnets s on s.network_id = w.id and i.private_address <<= s.cidr
    where i.orphan_id = ${id} order by i.id for share of i`;
  for (const [index, { id: interfaceId, address, subnet_id: subnetId }] of interfaces.entries()) {
    if (!subnetId) throw new Error(`the subnet of its address ${address} does not exist`);
    // The tenant may have wanted no public address, so an interface without one does not get one later.
    await sql`insert into network_interfaces (id, vm_id, name, network_id, subnet_id, mac_address, wants_public_ipv4)
      select ${interfaceId}, ${vmId}, ${`eth${index}`}, i.network_id, ${subnetId}, i.mac_address,
        i.public_address is not null
      from orphan_interfaces i where i.orphan_id = ${id} and i.id = ${interfaceId} on conflict (id) do nothing`;
    await sql`insert into address_claims (network_interface_id, subnet_id, address)
      values (${interfaceId}, ${subnetId}, ${address}::inet) on conflict (network_interface_id) do nothing`;
    await sql`update public_addresses p set network_interface_id = ${interfaceId} from orphan_interfaces i
      where i.orphan_id = ${id} and i.id = ${interfaceId} and p.address = i.public_address
        and p.network_interface_id is null and (not p.reserved or exists (select from reserved_addresses r
          where r.public_address_id = p.id and r.network_interface_id = ${interfaceId}))`;
  }
}

/** The claims on its devices become those of the VM. */
async function place(sql: Queryable, orphan: Orphan): Promise<void> {
  const { id, vm_id: vmId, host_id: hostId, project_id: projectId } = orphan;
  const addresses = (orphan.description.devices ?? []).map(({ address }) => address);
  const [taken] = await sql<{ pci_address: string; vm_id: string }[]>`
    select d.pci_address, c.vm_id from devices d join device_claims c on c.device_id = d.id
    where d.host_id = ${hostId} and d.pci_address = any(${addresses}::text[]) and c.vm_id is not null`;
  if (taken)
    throw new Error(
      `its device ${taken.pci_address} is claimed by VM ${taken.vm_id}: delete that VM first`,
    );
  await sql`insert into placements (vm_id, host_id, epoch, numa_shares)
    select ${vmId}, ${hostId}, 0, orphan_numa_shares(description) from orphans where id = ${id}`;
  await sql`update device_claims set vm_id = ${vmId}, orphan_id = null where orphan_id = ${id}`;
  await sql`update vms set placed = true, revision = greatest(revision + 1, count_floor()) where id = ${vmId}`;
  await sql`select assign_volume_keys(array[${vmId}::uuid])`;
  await sql`delete from orphans where id = ${id}`;
  await insertEvents(sql, [
    {
      projectId,
      resourceType: 'vm',
      resourceId: vmId,
      type: 'vm_restored',
      message: 'the VM runs, and is shown again after a recovery of the control plane',
    },
  ]);
}
