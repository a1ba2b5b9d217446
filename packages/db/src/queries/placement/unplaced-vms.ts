import type { Queryable } from '../../connect.ts';
import type { TypeAmounts } from './placement-hosts.ts';

/** An interface and the addresses it has already: a VM that was stopped keeps its private one. */
export type UnplacedInterface = {
  id: string;
  subnet_id: string;
  cidr: string;
  has_private: boolean;
  has_public: boolean;
};

export type ListedVm = {
  id: string;
  /** 64 bits come as text. */
  generation: string;
  type: string;
  amounts: TypeAmounts;
};

export type UnplacedVm = ListedVm & {
  interfaces: UnplacedInterface[];
  /** Hosts that keep its disks and nobody else can reach: it can run there alone. */
  storage_hosts: string[];
  /** It has disks that every host with shared storage can reach. */
  shared_storage: boolean;
};

type VmRow = TypeAmounts & Omit<ListedVm, 'amounts'>;
type InterfaceRow = UnplacedInterface & { vm_id: string };
type DiskRow = { vm_id: string; host_id: string; shared_storage: boolean };

/** Oldest first. The condition is that of the index `vms_unplaced`, word for word. */
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
 * With what matters to where they go. One statement for each kind of thing and all VMs, so that none
 * is done once per VM, whatever the planner thinks.
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

/** Those that exist somewhere. A host that was removed took them with it: it is nobody's to share. */
async function listKeptDisks(sql: Queryable, vmIds: string[]): Promise<DiskRow[]> {
  return await sql<DiskRow[]>`
    select a.vm_id, d.host_id, coalesce(h.shared_storage, false) as shared_storage
    from disk_attachments a join disks d on d.id = a.disk_id left join hosts h on h.id = d.host_id
    where a.vm_id = any(${vmIds}::uuid[]) and a.desired_state = 'attached' and d.host_id is not null`;
}
