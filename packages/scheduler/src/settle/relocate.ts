import { recordFailedBuild } from '@gantry/db/queries/hosts/host-trouble';
import { type PlacedVmRow, updateVmRelocating } from '@gantry/db/queries/settle/settle-vms';
import { countsAgainstHost, isHostFailure } from './is-host-failure.ts';
import type { Failure, VmSettling } from './vm-settling.ts';

/** The kernel of the host has not finished a request for a device of the VM, and may never do so. */
export const DEVICE_STUCK = 'device_stuck';
/** The start of the VM took longer than its size justifies, and was ended. */
const START_TIMED_OUT = 'start_timed_out';

/** A host that fails for reasons of its own must not fail the requests of tenants. */
const MAX_AVOIDED_HOSTS = 3;
/** Each attempt takes up to half an hour, so only one other host is tried. */
const MAX_AVOIDED_AFTER_TIMEOUT = 1;

/** Whether the host brings the VM up for a request, so that a failure says something about the host. */
export function isBuild({ operation }: PlacedVmRow): boolean {
  return operation === 'CREATE' || operation === 'START' || operation === 'MOVE';
}

/**
 * If the host could not build the VM for a reason of its own, the VM is taken down there and placed on
 * another host. Returns false if the VM cannot move.
 */
export async function relocate(settling: VmSettling, failure: Failure): Promise<boolean> {
  const { sql, hostId, vm, sharedStorage, builtNowhere } = settling;
  if (!isBuild(vm) || !isHostFailure(failure)) return false;
  if (vm.avoided_hosts.length > 0) builtNowhere.push({ vmId: vm.id, hostIds: vm.avoided_hosts });
  else if (countsAgainstHost(failure)) await recordFailedBuild(sql, { hostId, vmId: vm.id });
  // A VM with a stuck device cannot be taken down, so it cannot move within its deadline.
  const isFree = failure.code !== DEVICE_STUCK;
  const isOnVolumes = vm.attachments.length > 0 && vm.attachments.every(({ in_pool }) => in_pool);
  // Its data disks are on this host, or were given to it. Volumes of a storage cluster are on no host.
  const isBound = !isOnVolumes && (vm.observed_state !== 'none' || vm.attachments.length > 1);
  const canMove = isFree && (!isBound || sharedStorage);
  const most = failure.code === START_TIMED_OUT ? MAX_AVOIDED_AFTER_TIMEOUT : MAX_AVOIDED_HOSTS;
  if (!canMove || vm.avoided_hosts.length >= most) return false;
  return await updateVmRelocating(sql, { vmId: vm.id, hostId, failure });
}
