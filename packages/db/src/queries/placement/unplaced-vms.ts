import type { Queryable } from '../../connect.ts';
import type { TypeAmounts } from './placement-hosts.ts';

/** An interface and whether it has addresses. A stopped VM keeps its private address. */
export type UnplacedInterface = {
  id: string;
  subnet_id: string;
  cidr: string;
  has_private: boolean;
  has_public: boolean;
};

export type ListedVm = {
  id: string;
  /** The driver returns 64-bit numbers as text. */
  generation: string;
  type: string;
  amounts: TypeAmounts;
};

export type UnplacedVm = ListedVm & {
  interfaces: UnplacedInterface[];
  /** Hosts that store its disks without shared storage; the VM can run only there. */
  storage_hosts: string[];
  /** Whether it has disks on shared storage. */
  shared_storage: boolean;
};

type VmRow = TypeAmounts & Omit<ListedVm, 'amounts'>;
type InterfaceRow = UnplacedInterface & { vm_id: string };
type DiskRow = { vm_id: string; host_id: string; shared_storage: boolean };

/** Lists the oldest first. The condition is exactly that of the index `vms_unplaced`. */
export async function listUnplacedVms(
  sql: Queryable,
  { location, limit }: { location: string; limit: number },
): Promise<ListedVm[]> {
  const rows = await sql<VmRow[]>`
    select v.id, v.generation, v.type, t.cpu_cores, t.memory_gb, t.disk_gb, t.disk_count, t.gpu_count, t.gpu_type,
      t.network_gbps, t.may_split
    from (select id, generation, type from vms where location = ${location}
        and desired_state = 'running' and not placed and not abandoned and observed_generation < generation
      order by id limit ${limit}) v
    join vm_types t on t.name = v.type order by v.id`;
  return rows.map(({ id, generation, type, ...amounts }) => ({ id, generation, type, amounts }));
}

/**
 * Reads what placement needs to know about the VMs, with one statement for the interfaces and one
 * for the disks of all VMs.
 */
export async function describeVms(
  sql: Queryable,
  listed: readonly ListedVm[],
): Promise<UnplacedVm[]> {
  if (listed.length === 0) return [];
  const vmIds = listed.map(({ id }) => id);
  const [interfaces, disks] = await Promise.all([
    listInterfaces(sql, vmIds),
    listKeptDisks(sql, vmIds),
  ]);
  const nothing = () => ({ interfaces: [], storage_hosts: [], shared_storage: false });
  const vms = new Map(listed.map((vm): [string, UnplacedVm] => [vm.id, { ...vm, ...nothing() }]));
  for (const { vm_id, ...one } of interfaces) vms.get(vm_id)?.interfaces.push(one);
  for (const { vm_id, host_id, shared_storage } of disks) {
    const vm = vms.get(vm_id);
    if (shared_storage && vm) vm.shared_storage = true;
    else if (!vm?.storage_hosts.includes(host_id)) vm?.storage_hosts.push(host_id);
  }
  return [...vms.values()];
}

async function listInterfaces(sql: Queryable, vmIds: string[]): Promise<InterfaceRow[]> {
  return await sql<InterfaceRow[]>`
    select n.vm_id, n.id, n.subnet_id, s.cidr,
      exists (select from address_claims where network_interface_id = n.id) as has_private,
      exists (select from public_addresses where network_interface_id = n.id) as has_public
    from network_interfaces n join subnets s on s.id = n.subnet_id
    where n.vm_id = any(${vmIds}::uuid[]) order by n.vm_id, n.name`;
}

/** Lists disks that a host stores. The disks of a removed host are not shared. */
async function listKeptDisks(sql: Queryable, vmIds: string[]): Promise<DiskRow[]> {
  return await sql<DiskRow[]>`
    select a.vm_id, d.host_id, coalesce(h.shared_storage, false) as shared_storage
    from disk_attachments a join disks d on d.id = a.disk_id left join hosts h on h.id = d.host_id
    where a.vm_id = any(${vmIds}::uuid[]) and a.desired_state = 'attached' and d.host_id is not null`;
}
