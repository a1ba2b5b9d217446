import type { VmFacts } from '../ledger.ts';
import type { Domain } from '../machine.ts';
import { isBelow, type VmEntry } from '../wanted.ts';

/**
 * What to do about one VM, from what is wanted and what is.
 *
 * A domain that does not run although it was started by the present order has crashed, and stays
 * down until a greater order. It has not crashed if the host was started anew since it was last seen
 * running: then it ended with its host, and comes up again by the same order.
 */
export type Plan =
  /** Leave it alone. */
  | 'nothing'
  /** Bring up every part, and start it. */
  | 'up'
  /** It runs by an earlier order. */
  | 'reset'
  /** It runs, with an earlier revision's disks or interfaces. */
  | 'adjust'
  /** Keep everything it has, and say so. */
  | 'crashed'
  | 'takeDown';

export type ObservedVm = { domain: Domain | undefined; facts: VmFacts; hostBootId: string };

export function planVm(wanted: VmEntry | null, observed: ObservedVm): Plan {
  if (wanted === null) return 'nothing';
  const { domain, facts } = observed;
  if (wanted.deleted) return facts.deletedRevision === wanted.vm.revision ? 'nothing' : 'takeDown';
  if (domain?.state === 'running') {
    if (isBelow(domain.boot, wanted.vm.boot)) return 'reset';
    return domain.revision === wanted.vm.revision ? 'nothing' : 'adjust';
  }
  if (isBelow(lastBoot(observed), wanted.vm.boot)) return 'up';
  return endedWithHost(observed) ? 'up' : 'crashed';
}

/** The order by which it last ran: the domain knows, and where it is gone the ledger. */
export function lastBoot({ domain, facts }: Pick<ObservedVm, 'domain' | 'facts'>): string {
  return domain ? domain.boot : facts.boot;
}

/** Without a ledger's word it counts as crashed: nothing is started that nobody ordered. */
function endedWithHost({ facts, hostBootId }: ObservedVm): boolean {
  return facts.hostBootId !== '' && facts.hostBootId !== hostBootId && !facts.crashed;
}
