/**
 * Lists the VMs that need a host, and commits the decisions about them, many at a time, all or
 * none. Nothing is written without the lease. Everything that a decision depends on is locked, then
 * read again, then written, and the number of written rows is checked. Primary keys prevent double
 * claims of devices, addresses and VMs; the locks only make conflicts rare.
 *
 * The order of locks is the same everywhere: the lease, VMs by id, disks by id, hosts by id,
 * networks by id, devices by id, host_revisions by host id. The last include hosts with firewall
 * rules that name one of the VMs, and hosts with VMs of the same networks.
 */
import type { Queryable, Sql, Transaction } from '../../connect.ts';
import { isLostRace } from '../../errors.ts';
import { transact } from '../../transact.ts';
import { type TypeAmounts, typeAmounts } from '../catalogue/type-amounts.ts';
import { assignPublicAddresses } from '../networks/public-addresses.ts';
import { failVm, type OperationFailure } from '../settle/end-operation.ts';
import { type Lease, lockLease } from './leases.ts';

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

/** The condition is exactly that of the index `vms_unplaced`. */
const isUnplaced = (
  sql: Queryable,
) => sql`desired_state = 'running' and not placed and not abandoned
  and observed_generation < generation`;

/** Lists the oldest first. */
export async function listUnplacedVms(
  sql: Queryable,
  { location, limit }: { location: string; limit: number },
): Promise<ListedVm[]> {
  const rows = await sql<VmRow[]>`
    select v.id, v.generation, v.type, ${typeAmounts(sql)}
    from (select id, generation, type from vms where location = ${location}
        and ${isUnplaced(sql)}
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

export type NewPlacement = {
  vmId: string;
  /** The generation of the VM when it was decided. */
  generation: string;
  hostId: string;
  deviceIds: readonly string[];
  /** Private addresses for interfaces that have none. */
  addresses: readonly { interfaceId: string; subnetId: string; address: string }[];
  /** Interfaces that get a public address if the pool has one. */
  publicFor: readonly string[];
};

export type FailedPlacement = { vmId: string; generation: string; failure: OperationFailure };

/** The transaction ids of a changed host before and after the commit. */
export type HostMove = { hostId: string; before: string; after: string };

/** Nothing was written: the decision is outdated, or another scheduler has the lease. */
export type NotCommitted = { outcome: 'lost' } | { outcome: 'lease_lost' };

export type CommitOutcome =
  /** `dropped`: VMs whose desired state has changed, or that another transaction has locked. */
  { outcome: 'committed'; moves: HostMove[]; dropped: string[] } | NotCommitted;

class LeaseLost extends Error {}
class PlacementLost extends Error {}

export async function commitPlacements(
  sql: Sql,
  { lease, placements }: { lease: Lease; placements: readonly NewPlacement[] },
): Promise<CommitOutcome> {
  return await underLease(sql, { lease, vms: placements }, async (tx, wanted) => {
    const placed = placements.filter(({ vmId }) => wanted.has(vmId));
    const dropped = placements.flatMap(({ vmId }) => (wanted.has(vmId) ? [] : [vmId]));
    const before = await lockPlaces(tx, placed);
    const after = placed.length > 0 ? await insertPlacements(tx, lease, placed) : '';
    const moves = [...before].map(([hostId, xid]) => ({ hostId, before: xid, after }));
    return { outcome: 'committed', moves, dropped };
  });
}

/** VMs whose desired state has changed, or that another transaction has locked, do not fail. */
export async function commitFailures(
  sql: Sql,
  { lease, failures }: { lease: Lease; failures: readonly FailedPlacement[] },
): Promise<{ outcome: 'committed'; failed: number } | NotCommitted> {
  return await underLease(sql, { lease, vms: failures }, async (tx, wanted) => {
    const failed = failures.filter(({ vmId }) => wanted.has(vmId));
    await Promise.all(failed.map((failure) => failVm(tx, { ...failure, after: 'keep' })));
    return { outcome: 'committed', failed: failed.length };
  });
}

/** A VM and its generation when it was decided. */
type DecidedVm = Pick<NewPlacement, 'vmId' | 'generation'>;

/** `wanted`: the VMs whose generation is the same as when it was decided. */
async function underLease<T>(
  sql: Sql,
  { lease, vms }: { lease: Lease; vms: readonly DecidedVm[] },
  write: (tx: Transaction, wanted: Set<string>) => Promise<T>,
): Promise<T | NotCommitted> {
  try {
    return await transact(sql, async (tx) => {
      // Both are sent at once and run in this order.
      const [held, wanted] = await Promise.all([lockLease(tx, lease), lockUnplacedVms(tx, vms)]);
      if (!held) throw new LeaseLost();
      return await write(tx, wanted);
    });
  } catch (error) {
    if (error instanceof LeaseLost) return { outcome: 'lease_lost' };
    if (error instanceof PlacementLost || isLostRace(error)) return { outcome: 'lost' };
    throw error;
  }
}

/** VMs that another transaction has locked are skipped. */
async function lockUnplacedVms(tx: Transaction, vms: readonly DecidedVm[]): Promise<Set<string>> {
  const rows = await tx<{ id: string; generation: string }[]>`
    select id, generation from vms where id = any(${vms.map(({ vmId }) => vmId)}::uuid[])
      and ${isUnplaced(tx)}
    order by id for update skip locked`;
  const generations = new Map(rows.map(({ id, generation }) => [id, generation]));
  const same = vms.filter(({ vmId, generation }) => generations.get(vmId) === generation);
  return new Set(same.map(({ vmId }) => vmId));
}

/** Locks hosts and devices if they are as decided. Returns the transaction id of each host. */
async function lockPlaces(
  tx: Transaction,
  placements: readonly NewPlacement[],
): Promise<Map<string, string>> {
  if (placements.length === 0) return new Map();
  const hostIds = [...new Set(placements.map(({ hostId }) => hostId))];
  const deviceIds = placements.flatMap((placement) => placement.deviceIds);
  const vmIds = placements.map(({ vmId }) => vmId);
  const isOfVms = tx`id in (select network_id from network_interfaces where vm_id = any(${vmIds}::uuid[]))`;
  const spans = tx`exists (select from hosts where id = any(${hostIds}::uuid[]) and underlay_address is not null)`;
  const [, hosts, , , devices, revisions] = await Promise.all([
    // A spec contains whether a disk exists, so the disks must not change.
    tx`select from disks where id in (select disk_id from disk_attachments
      where vm_id = any(${vmIds}::uuid[])) order by id for share`,
    tx`select from hosts where id = any(${hostIds}::uuid[])
      and state = 'ready' and admin_state = 'active' and fenced_at is null and drift = '{}' order by id for share`,
    // One of the two: if hosts reach each other, placements in one network are serialised.
    tx`select from networks where ${isOfVms} and ${spans} order by id for no key update`,
    tx`select from networks where ${isOfVms} and not ${spans} order by id for share`,
    tx`select from devices where id = any(${deviceIds}::uuid[])
      and state = 'ready' and quarantine_reason = '' and not blocked order by id for share`,
    tx<{ host_id: string; changed_xid: string }[]>`
      select host_id, changed_xid::text from host_revisions
      where host_id = any(${hostIds}::uuid[] || array(select hosts_with_rules_on(${vmIds}::uuid[]))
        || array(select hosts_sharing_networks((select array_agg(p.vm_id) from unnest(${vmIds}::uuid[],
            ${placements.map(({ hostId }) => hostId)}::uuid[]) as p (vm_id, host_id)
          join hosts h on h.id = p.host_id where h.underlay_address is not null))))
      order by host_id for update`,
  ]);
  expectCount(hosts, hostIds.length);
  expectCount(devices, deviceIds.length);
  const chosen = revisions.filter(({ host_id }) => hostIds.includes(host_id));
  return new Map(chosen.map(({ host_id, changed_xid }) => [host_id, changed_xid]));
}

/** Returns the transaction id. */
async function insertPlacements(
  tx: Transaction,
  { location, epoch }: Lease,
  placements: readonly NewPlacement[],
): Promise<string> {
  const vmIds = placements.map(({ vmId }) => vmId);
  const devices = placements.flatMap(({ vmId, deviceIds }) =>
    deviceIds.map((id) => ({ id, vmId })),
  );
  const addresses = placements.flatMap((placement) => placement.addresses);
  const [addressClaims, placed, deviceClaims, marked, [transaction]] = await Promise.all([
    // Addresses come first: while a VM is not placed, no other host has a route to it.
    tx`insert into address_claims (network_interface_id, subnet_id, address) select interface_id, subnet_id, address::inet
      from unnest(${addresses.map(({ interfaceId }) => interfaceId)}::uuid[],
        ${addresses.map(({ subnetId }) => subnetId)}::uuid[],
        ${addresses.map(({ address }) => address)}::text[]) as a (interface_id, subnet_id, address)`,
    tx`insert into placements (vm_id, host_id, epoch) select vm_id, host_id, ${epoch}
      from unnest(${vmIds}::uuid[], ${placements.map(({ hostId }) => hostId)}::uuid[]) as p (vm_id, host_id)`,
    tx`insert into device_claims (device_id, vm_id) select *
      from unnest(${devices.map(({ id }) => id)}::uuid[], ${devices.map(({ vmId }) => vmId)}::uuid[])`,
    tx`update vms set placed = true where id = any(${vmIds}::uuid[]) and not placed`,
    tx<{ xid: string }[]>`select pg_current_xact_id()::text as xid`,
    assignPublicAddresses(tx, {
      location,
      interfaceIds: placements.flatMap((one) => one.publicFor),
    }),
  ]);
  expectCount(placed, vmIds.length);
  expectCount(deviceClaims, devices.length);
  expectCount(addressClaims, addresses.length);
  expectCount(marked, vmIds.length);
  return transaction?.xid ?? '';
}

function expectCount({ count }: { count: number }, expected: number): void {
  if (count !== expected) throw new PlacementLost();
}
