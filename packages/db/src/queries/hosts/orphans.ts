import type { OrphanDecision } from '@gantry/model/host-states';
import { newId } from '@gantry/model/ids';
import type { Queryable } from '../../connect.ts';
import { type IdListing, idOrder, listedByIds } from '../listing.ts';
import type { ClaimedDevice } from '../settle/settle-vms.ts';

/** VMs on hosts that this database does not place there. */

/** An orphan as its host reports it, checked: every field has the form of its column. */
export type FoundOrphan = {
  vmId: string;
  projectId: string | null;
  type: string;
  name: string;
  revision: string;
  generation: string;
  description: object;
  /** The PCI addresses of its devices. */
  addresses: string[];
  interfaces: {
    id: string;
    networkId: string;
    macAddress: string;
    privateAddress: string;
    publicAddress: string | null;
  }[];
};

export type SettledOrphan = {
  id: string;
  vm_id: string;
  project_id: string | null;
  /** The revision of its take-down, if an operator has decided to delete it. */
  revision: string;
  decision: OrphanDecision | null;
  devices: ClaimedDevice[];
};

/** Reads the orphans of a host, whose row the caller has locked. */
export async function listOrphansOfHost(sql: Queryable, hostId: string): Promise<SettledOrphan[]> {
  return await sql<SettledOrphan[]>`
    select o.id, o.vm_id, o.project_id, o.revision, o.decision,
      (select coalesce(json_agg(json_build_object('id', d.id, 'kind', d.kind, 'pci_address', d.pci_address,
          'serial', d.serial)), '[]')
        from device_claims c join devices d on d.id = c.device_id where c.orphan_id = o.id) as devices
    from orphans o where o.host_id = ${hostId} order by o.vm_id`;
}

/**
 * Projects are told about their orphans for a day after an era has begun. Otherwise no commits are lost,
 * and a host must not be able to write to the events of a project that it names.
 */
const TELLING_SECONDS = 86_400;

/**
 * Records orphans and claims those of their devices that no VM has. A device that a VM has stays with
 * the VM: the agent refuses to give it to the VM while the orphan holds it.
 */
export async function insertOrphans(
  sql: Queryable,
  { hostId, orphans }: { hostId: string; orphans: readonly FoundOrphan[] },
): Promise<void> {
  for (const orphan of orphans) {
    const id = newId();
    await sql`insert into orphans (id, host_id, vm_id, project_id, type, name, revision, generation, description)
      values (${id}, ${hostId}, ${orphan.vmId}, ${orphan.projectId}, ${orphan.type}, ${orphan.name},
        ${orphan.revision}, ${orphan.generation}, ${sql.json({ ...orphan.description })})`;
    await sql`insert into events (id, project_id, resource_type, resource_id, type, message)
      select ${newId()}, p.id, 'vm', ${orphan.vmId}, 'vm_orphaned',
        'the VM runs, but the control plane lost its record: the operator decides whether it is given back'
      from projects p, installation i
      where p.id = ${orphan.projectId} and i.era > extract(epoch from now()) - ${TELLING_SECONDS}`;
    for (const iface of orphan.interfaces)
      await sql`insert into orphan_interfaces (id, orphan_id, network_id, mac_address, private_address, public_address)
        values (${iface.id}, ${id}, ${iface.networkId}, ${iface.macAddress}, ${iface.privateAddress}::inet,
          ${iface.publicAddress}::inet) on conflict do nothing`;
    await claimDevicesOfOrphan(sql, { hostId, orphanId: id, addresses: orphan.addresses });
  }
}

/** Claims the devices of an orphan that nothing else claims. A VM may have released one meanwhile. */
export async function claimDevicesOfOrphan(
  sql: Queryable,
  { hostId, orphanId, addresses }: { hostId: string; orphanId: string; addresses: string[] },
): Promise<void> {
  await sql`insert into device_claims (device_id, orphan_id) select d.id, ${orphanId} from devices d
    where d.host_id = ${hostId} and d.pci_address = any(${addresses}::text[])
    order by d.id on conflict (device_id) do nothing`;
}

/** Removes orphans that are gone from their host, or that the database places there now. */
export async function removeOrphans(sql: Queryable, orphanIds: readonly string[]): Promise<void> {
  await sql`delete from orphans where id = any(${[...orphanIds]}::uuid[])`;
}

export type DecidedOrphan = {
  id: string;
  host_id: string;
  vm_id: string;
  project_id: string | null;
  name: string;
  type: string;
  found_at: Date;
  decision: OrphanDecision | null;
  problem: string;
  device_addresses: string[];
  private_addresses: string[];
  public_addresses: string[];
  disk_ids: string[];
};

const orphanColumns = (sql: Queryable) => sql`
  o.id, o.host_id, o.vm_id, o.project_id, o.name, o.type, o.found_at, o.decision, o.problem,
  array(select d.pci_address from device_claims c join devices d on d.id = c.device_id
    where c.orphan_id = o.id order by 1) as device_addresses,
  array(select host(i.private_address) from orphan_interfaces i where i.orphan_id = o.id order by i.id) as private_addresses,
  array(select host(i.public_address) from orphan_interfaces i
    where i.orphan_id = o.id and i.public_address is not null order by i.id) as public_addresses,
  array(select disk ->> 'id' from jsonb_array_elements(o.description -> 'disks') disk) as disk_ids`;

export async function listOrphans(
  sql: Queryable,
  filter: IdListing & { hostId: string | null },
): Promise<DecidedOrphan[]> {
  return await sql<DecidedOrphan[]>`
    select ${orphanColumns(sql)} from orphans o
    where ${listedByIds(sql, filter, sql`o.`)} and (${filter.hostId}::uuid is null or o.host_id = ${filter.hostId})
    ${idOrder(sql, filter, sql`o.`)}`;
}

/**
 * Records what an operator decided. The scheduler carries it out. A deletion needs a revision that the
 * host has not seen.
 */
export async function decideOrphan(
  sql: Queryable,
  { id, decision }: { id: string; decision: OrphanDecision },
): Promise<DecidedOrphan | undefined> {
  await sql`update orphans set decision = ${decision}, problem = '',
      revision = case when ${decision} = 'delete' and decision is distinct from 'delete'
        then greatest(revision + 1, count_floor()) else revision end
    where id = ${id}`;
  const [row] = await sql<
    DecidedOrphan[]
  >`select ${orphanColumns(sql)} from orphans o where o.id = ${id}`;
  return row;
}
