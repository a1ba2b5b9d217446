import type { FailedPlacement, NewPlacement } from '@gantry/db/queries/placement/placements';
import type { UnplacedVm } from '@gantry/db/queries/placement/unplaced-vms';
import { chooseHost, type NoHost, type Policy, whyNoHost } from '@gantry/placement/choose-host';
import type { Placement, PlacementRequest } from '@gantry/placement/host';
import type { HostIndex } from '@gantry/placement/host-index';
import { placeOnHost } from '@gantry/placement/place-on-host';
import { requestFor } from '@gantry/placement/request-for';
import type { OpenAddresses, SubnetNeed } from './address-allocator.ts';

/** A placement to be committed, and its claim in the index. */
export type Decided = { placement: NewPlacement; claimed: Placement };
export type Decisions = { decided: Decided[]; failures: FailedPlacement[] };

type Decision = {
  index: HostIndex;
  location: string;
  addresses: OpenAddresses;
  /** Hosts that no scheduler can send a VM to now, or that another transaction has locked. */
  avoided: ReadonlySet<string>;
};

/**
 * Chooses a placement for each VM in order, or a failure. The index has the claims afterwards. A VM
 * that fits only on an avoided host gets neither: the host attaches again within seconds or becomes
 * unreachable, and a transaction ends.
 */
export function decide(vms: readonly UnplacedVm[], decision: Decision): Decisions {
  const { index, location, addresses, avoided } = decision;
  const requests = new Map<string, PlacementRequest>();
  const decided: Decided[] = [];
  const failures: FailedPlacement[] = [];
  for (const vm of vms) {
    const { new_disks_gib: newDisksGib, has_volumes: hasVolumes } = vm;
    const key = `${vm.type} ${newDisksGib} ${hasVolumes}`;
    const request =
      requests.get(key) ?? requestFor(location, vm.amounts, { newDisksGib, hasVolumes });
    requests.set(key, request);
    const fail = (failure: FailedPlacement['failure']) =>
      failures.push({ vmId: vm.id, generation: vm.generation, failure });
    const claimed = choose(index, vm, { request, avoided });
    if ('reasons' in claimed) {
      if (avoided.size > 0 && !('reasons' in choose(index, vm, { request, avoided: NONE })))
        continue;
      fail(noHost(vm, location, claimed));
      continue;
    }
    const picked = pickAddresses(vm, addresses);
    if ('exhausted' in picked) {
      fail(addressExhausted(picked.exhausted));
      continue;
    }
    index.claim(claimed);
    decided.push({ claimed, placement: newPlacement(vm, claimed, picked.addresses) });
  }
  return { decided, failures };
}

/** Returns the number of addresses that these VMs need, by subnet. */
export function neededAddresses(vms: readonly UnplacedVm[]): Map<string, SubnetNeed> {
  const needs = new Map<string, SubnetNeed>();
  for (const { subnet_id, cidr } of vms.flatMap(lackingInterfaces)) {
    const need = needs.get(subnet_id) ?? { cidr, count: 0 };
    need.count += 1;
    needs.set(subnet_id, need);
  }
  return needs;
}

function lackingInterfaces({ interfaces }: UnplacedVm) {
  return interfaces.filter(({ has_private }) => !has_private);
}

const NONE: ReadonlySet<string> = new Set();

type Choice = { request: PlacementRequest; avoided: ReadonlySet<string> };

/** A VM can only run on the host that has its disks, or on any host with the shared storage. */
function choose(
  index: HostIndex,
  vm: UnplacedVm,
  { request, avoided }: Choice,
): Placement | NoHost {
  const { avoided_hosts: failedHosts, storage_hosts: storageHosts } = vm;
  const policies: Policy[] = [];
  if (failedHosts.length > 0)
    policies.push({ name: 'build_failed', allows: ({ id }) => !failedHosts.includes(id) });
  if (avoided.size > 0) policies.push({ name: 'reachable', allows: ({ id }) => !avoided.has(id) });
  const [home, ...others] = storageHosts;
  if (home === undefined && !vm.shared_storage) return chooseHost(index, request, policies);
  const storage: Policy = {
    name: 'storage',
    allows: (host) =>
      storageHosts.every((id) => id === host.id) &&
      (!vm.shared_storage || host.sharedStorage === true),
  };
  if (home === undefined || others.length > 0 || vm.shared_storage)
    return chooseHost(index, request, [storage, ...policies]);
  const placement = avoided.has(home) ? null : placeOnHost(index, home, request);
  return placement ?? { reasons: whyNoHost(index, request, [storage]) };
}

type Address = NewPlacement['addresses'][number];

function pickAddresses(
  vm: UnplacedVm,
  open: OpenAddresses,
): { addresses: Address[] } | { exhausted: string } {
  const addresses: Address[] = [];
  for (const { id, subnet_id, cidr } of lackingInterfaces(vm)) {
    const address = open.take(subnet_id);
    if (address === null) return { exhausted: cidr };
    addresses.push({ interfaceId: id, subnetId: subnet_id, address });
  }
  return { addresses };
}

function newPlacement(vm: UnplacedVm, claimed: Placement, addresses: Address[]): NewPlacement {
  return {
    vmId: vm.id,
    generation: vm.generation,
    hostId: claimed.hostId,
    deviceIds: [...claimed.gpuIds, ...claimed.companionIds],
    numaShares: claimed.numaNodes
      .filter(({ cores, memoryMib }) => cores > 0 || memoryMib > 0)
      .map(({ node, cores, memoryMib }) => ({ node, cores, memoryMib })),
    addresses,
    publicFor: vm.interfaces.flatMap(({ id, needs_public }) => (needs_public ? [id] : [])),
  };
}

function noHost(vm: UnplacedVm, location: string, { reasons }: NoHost) {
  const details = { filters: reasons };
  if (vm.build_failure) {
    const { code, message } = vm.build_failure;
    const elsewhere = `no other host in ${location} has room for ${vm.type} now`;
    return { code, message: `${message}; ${elsewhere}`, details };
  }
  const why =
    reasons.at(-1)?.filter === 'storage'
      ? `the host in ${location} that has its disks has no room for ${vm.type} now: try again later`
      : `no host in ${location} has room for ${vm.type} now: try again later, or another type or location`;
  return { code: 'out_of_stock', message: why, details };
}

function addressExhausted(cidr: string) {
  return {
    code: 'address_exhausted',
    message: `the subnet ${cidr} has no free private address: remove VMs from it or use another subnet`,
    details: { subnet: cidr },
  };
}
