import { isSameTune } from '../disk-limits.ts';
import { type Domain, isActive } from '../host-driver.ts';
import type { VmFacts } from '../ledger/ledger.ts';
import { type DiskSpec, isBelow, type VmEntry, type VmSpec } from '../spec.ts';

/**
 * Decides what to do about one VM from its desired and its observed state.
 *
 * A domain that was started for the current generation and does not run has crashed. It stays down
 * until the generation grows. It has not crashed if the host has rebooted since the domain was last
 * seen running: then it ended with its host and is started again for the same generation.
 *
 * A running guest is reset only if the generation grows, never because its domain was changed
 * outside the agent.
 */
export type Plan =
  /** Leave it alone. */
  | 'nothing'
  /** Bring up every part and start the domain. */
  | 'up'
  /** Its start is in progress: wait for it, and plan again. */
  | 'awaitStart'
  /** It runs for an earlier generation: reset it. */
  | 'reset'
  /** It runs with disks or interfaces of an earlier revision, or was changed outside the agent. */
  | 'adjust'
  /** Keep everything it has, and report the crash. */
  | 'crashed'
  | 'takeDown';

export type ObservedVm = { domain: Domain | null; facts: VmFacts; hostBootId: string };

export function planVm(wanted: VmEntry | null, observed: ObservedVm): Plan {
  if (wanted === null) return 'nothing';
  const { domain, facts } = observed;
  if (wanted.takeDown)
    return facts.takenDownRevision === wanted.vm.revision ? 'nothing' : 'takeDown';
  if (domain?.state === 'starting') return 'awaitStart';
  const isOfEarlierGeneration = isBelow(lastGeneration(observed), wanted.vm.generation);
  if (domain?.state === 'running') {
    if (isOfEarlierGeneration) return 'reset';
    return isAsWanted(domain, wanted.vm) ? 'nothing' : 'adjust';
  }
  if (isOfEarlierGeneration) return 'up';
  return endedWithHost(observed) ? 'up' : 'crashed';
}

/**
 * Returns the generation for which the VM runs or last ran. Usually the domain stores it. The ledger
 * is used if the domain is gone or lost the value, and for a domain whose start was interrupted,
 * because the ledger is written before a start and after a reset.
 */
export function lastGeneration({ domain, facts }: Pick<ObservedVm, 'domain' | 'facts'>): string {
  if (domain?.state === 'running' && isBelow(facts.generation, domain.generation))
    return domain.generation;
  const isLost = domain === null || domain.revision === '0' || isActive(domain.state);
  return isLost ? facts.generation : domain.generation;
}

/**
 * Returns false if the definition or the disks are from another revision or were changed outside
 * the agent.
 */
function isAsWanted(domain: Domain, vm: VmSpec): boolean {
  const has = new Set(domain.disks.map(({ id }) => id));
  return (
    domain.revision === vm.revision &&
    !isBelow(domain.generation, vm.generation) &&
    has.size === vm.disks.length &&
    vm.disks.every(
      (disk) => has.has(disk.id) && !isTooSmall(domain, disk) && !isLimitedOtherwise(domain, disk),
    )
  );
}

/** Returns whether the guest has a volume of a storage cluster open that it is to grow. */
export function isTooSmall(domain: Domain, disk: DiskSpec): boolean {
  if (!disk.rbd || disk.readOnly) return false;
  return domain.disks.some(
    ({ id, sizeBytes }) => id === disk.id && isBelow(sizeBytes, disk.sizeBytes),
  );
}

/** Returns whether the disk of a running guest has other limits than it should have. */
export function isLimitedOtherwise(domain: Domain, disk: DiskSpec): boolean {
  const found = domain.disks.find(({ id }) => id === disk.id);
  return found !== undefined && !isSameTune(found.tune, disk.tune);
}

/**
 * Without facts in the ledger the VM counts as crashed, so that the agent starts nothing without an
 * order.
 */
function endedWithHost({ facts, hostBootId }: ObservedVm): boolean {
  return facts.hostBootId !== '' && facts.hostBootId !== hostBootId && !facts.crashed;
}
