import { type HostSpec, isBelow, isSameSpec } from '../spec.ts';
import { ageProblem, specProblem } from './spec-problem.ts';

/**
 * The checks that a spec must pass before the agent accepts it, besides those of each VM. They do not
 * rely on the control plane, so that an old scheduler cannot undo a newer one. A refused spec changes
 * nothing.
 */
export type Verdict = { accepted: true; isNew: boolean } | ({ accepted: false } & Reason);

type Reason = { code: string; message: string };

export function judgeSpec(spec: HostSpec, last: HostSpec | null): Verdict {
  const age = ageProblem(spec.needs);
  if (age !== null) return { accepted: false, code: 'agent_too_old', message: `refused: ${age}` };
  const bad = specProblem(spec);
  if (bad !== null) return { accepted: false, code: 'bad_spec', message: `refused: ${bad}` };
  if (last === null) return { accepted: true, isNew: true };
  // A scheduler of an earlier version sends neither era nor hash.
  const reason = spec.hash === '' ? outdatedNumber(spec, last) : outdated(spec, last);
  if (reason) return { accepted: false, ...reason };
  const isSame = spec.hash === '' ? spec.number === last.number : isSameSpec(spec, last);
  return { accepted: true, isNew: !isSame };
}

/** A spec is newer if its era is greater or, within an era, if its number is. */
function outdated(spec: HostSpec, last: HostSpec): Reason | null {
  if (isBelow(last.era, spec.era)) return null;
  if (isBelow(spec.era, last.era)) {
    const message = `refused: its era ${spec.era} is earlier than ${last.era}, of which a spec was accepted already`;
    return { code: 'stale_era', message };
  }
  // A spec that an earlier version of the agent accepted has no hash.
  if (spec.number === last.number && last.hash !== '' && spec.hash !== last.hash) {
    const message = `refused: its number ${spec.number} was accepted already with other content`;
    return { code: 'reused_number', message };
  }
  return outdatedNumber(spec, last);
}

function outdatedNumber(spec: HostSpec, last: HostSpec): Reason | null {
  if (!isBelow(spec.number, last.number)) return null;
  const message = `refused: its number ${spec.number} is below ${last.number}, which was accepted already`;
  return { code: 'stale_number', message };
}
