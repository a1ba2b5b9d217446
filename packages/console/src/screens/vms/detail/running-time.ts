import type { Schemas } from '@gantry/sdk';

type Operation = Schemas['Operation'];
type Event = Schemas['Event'];
type Change = { atMs: number; runs: boolean };

/** Operations after whose success the VM runs. */
const BEGINS = ['CREATE', 'START', 'RESET'];
/** The VM does not count from the request on, however long the host takes. */
const ENDS = ['STOP', 'RESET', 'DELETE'];
const STOPPED_BY: Event['type'][] = ['vm_crashed', 'vm_unreachable', 'vm_lost', 'vm_host_fenced'];

type History = {
  createdAt: string;
  /** The last ones, in any order; older ones may be missing. */
  operations: Operation[];
  events: Event[];
  nowMs: number;
};

/**
 * How long a VM has run, as it is charged: from the success of a creation, start or reset to the next request
 * to stop, reset or delete it. If the oldest operations are not stored any more, the VM counts from its creation.
 */
export function runningMs({ createdAt, operations, events, nowMs }: History): number {
  const changes = [
    ...operations.flatMap(changesOf),
    ...events
      .filter(({ type }) => STOPPED_BY.includes(type))
      .map(({ created_at }) => stop(created_at)),
    ...events
      .filter(({ type }) => type === 'vm_reachable')
      .map(({ created_at }) => begin(created_at)),
  ].sort((a, b) => a.atMs - b.atMs);
  const hasCreation = operations.some(({ metadata }) => metadata.operation_name === 'CREATE');
  let since = hasCreation ? undefined : Date.parse(createdAt);
  let total = 0;
  for (const { atMs, runs } of changes) {
    if (runs) since ??= atMs;
    else if (since !== undefined) {
      total += Math.max(0, atMs - since);
      since = undefined;
    }
  }
  return since === undefined ? total : total + Math.max(0, nowMs - since);
}

const begin = (at: string): Change => ({ atMs: Date.parse(at), runs: true });
const stop = (at: string): Change => ({ atMs: Date.parse(at), runs: false });

function changesOf({ metadata, state, started_at, completed_at }: Operation): Change[] {
  const name = metadata.operation_name;
  return [
    ...(ENDS.includes(name) ? [stop(started_at)] : []),
    ...(BEGINS.includes(name) && state === 'SUCCEEDED' ? [begin(completed_at)] : []),
  ];
}
