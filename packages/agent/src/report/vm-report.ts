import type { VmObservedState } from '@gantry/proto/generated/gantry/v1/VmObservedState';
import type { VmReport } from '@gantry/proto/generated/gantry/v1/VmReport';
import type { Failure } from '../base/failure.ts';
import type { Domain } from '../host-driver.ts';
import type { VmFacts } from '../ledger/ledger.ts';
import { lastGeneration } from '../reconcile/plan.ts';
import { isBelow, type VmEntry } from '../spec.ts';

type KnownVm = {
  id: string;
  entry: VmEntry | null;
  domain: Domain | undefined;
  facts: VmFacts;
  /** From the worker: the revision that was carried out or given up, and the failure. */
  work: { answered: string; failure: Failure | null; hasFailed: boolean } | undefined;
  /** Why the domain is only known from an earlier time; null if it was listed just now. */
  silence: Failure | null;
};

export function vmReport(known: KnownVm): VmReport {
  const { id, domain, work, silence } = known;
  return {
    id,
    revision: answeredRevision(known),
    generation: lastGeneration(known),
    state: `VM_OBSERVED_STATE_${stateOf(known)}` satisfies VmObservedState,
    failure: work?.failure ?? (domain ? silence : null),
    disks: domain ? [...domain.disks] : [],
  };
}

function stateOf({ entry, domain, facts, work }: KnownVm) {
  if (entry === null) return 'UNKNOWN';
  if (entry.deleted) {
    if (facts.deletedRevision === entry.vm.revision) return 'DELETED';
    return work?.hasFailed ? 'FAILED' : 'WORKING';
  }
  const isOfEarlierGeneration = isBelow(lastGeneration({ domain, facts }), entry.vm.generation);
  if (domain?.state === 'running' && !(isOfEarlierGeneration && work?.hasFailed)) return 'RUNNING';
  if (work?.hasFailed) return 'FAILED';
  return facts.crashed && !isOfEarlierGeneration ? 'CRASHED' : 'WORKING';
}

/** After a start of the agent and before its worker has run, the host shows what was done. */
function answeredRevision({ entry, domain, facts, work }: KnownVm): string {
  if (entry === null) return '0';
  if (work && work.answered !== '0') return work.answered;
  if (entry.deleted) return facts.deletedRevision || '0';
  return domain?.state === 'running' ? domain.revision : '0';
}
