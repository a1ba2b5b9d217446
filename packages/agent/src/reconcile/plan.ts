import type { Domain } from '../host-driver.ts';
import type { VmFacts } from '../ledger/ledger.ts';
import { isBelow, type VmEntry, type VmSpec } from '../spec.ts';

/**
 * What to do about one VM, from what is wanted and what is.
 *
 * A domain that does not run although it was started by the present order has crashed, and stays
 * down until a greater order. It has not crashed if the host was started anew since it was last seen
 * running: then it ended with its host, and comes up again by the same order.
 *
 * A running guest is reset for an order alone, never because its domain was changed by hand.
 */
export type Plan =
  /** Leave it alone. */
  | 'nothing'
  /** Bring up every part, and start it. */
  | 'up'
  /** It runs by an earlier order. */
  | 'reset'
  /** It runs, with an earlier revision's disks or interfaces, or with what somebody made of it. */
  | 'adjust'
  /** Keep everything it has, and say so. */
  | 'crashed'
  | 'takeDown';

export type ObservedVm = { domain: Domain | undefined; facts: VmFacts; hostBootId: string };

export function planVm(wanted: VmEntry | null, observed: ObservedVm): Plan {
  if (wanted === null) return 'nothing';
  const { domain, facts } = observed;
  if (wanted.deleted) return facts.deletedRevision === wanted.vm.revision ? 'nothing' : 'takeDown';
  const isOfEarlierOrder = isBelow(lastBoot(observed), wanted.vm.boot);
  if (domain?.state === 'running') {
    if (isOfEarlierOrder) return 'reset';
    return isAsWanted(domain, wanted.vm) ? 'nothing' : 'adjust';
  }
  if (isOfEarlierOrder) return 'up';
  return endedWithHost(observed) ? 'up' : 'crashed';
}

/**
 * The order by which it runs, or last ran. Mostly the domain knows. Where it is gone, or somebody took
 * that from it, the ledger does; so it does of a domain that runs by a start which was cut off
 * midway, for the ledger is written before a start and after a reset.
 */
export function lastBoot({ domain, facts }: Pick<ObservedVm, 'domain' | 'facts'>): string {
  if (domain?.state === 'running' && isBelow(facts.boot, domain.boot)) return domain.boot;
  const isLost = domain === undefined || domain.revision === '0' || domain.state === 'running';
  return isLost ? facts.boot : domain.boot;
}

/** Otherwise its definition or its disks are another revision's, or somebody's work. */
function isAsWanted(domain: Domain, vm: VmSpec): boolean {
  const has = new Set(domain.disks.map(({ id }) => id));
  return (
    domain.revision === vm.revision &&
    !isBelow(domain.boot, vm.boot) &&
    has.size === vm.disks.length &&
    vm.disks.every(({ id }) => has.has(id))
  );
}

/** Without a ledger's word it counts as crashed: nothing is started that nobody ordered. */
function endedWithHost({ facts, hostBootId }: ObservedVm): boolean {
  return facts.hostBootId !== '' && facts.hostBootId !== hostBootId && !facts.crashed;
}
