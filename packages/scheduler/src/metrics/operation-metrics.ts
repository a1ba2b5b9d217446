import type { Metrics } from '@gantry/daemon/metrics/metrics';
import type { Queryable } from '@gantry/db/connect';
import {
  type EndedOperation,
  readEndedOperations,
} from '@gantry/db/queries/operators/fleet-figures';

/** A create takes seconds; the first of an image on a host takes minutes. */
const RUNNING_BUCKETS = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600];
/** Hosts report codes. A faulty host must not make an unlimited number of series. */
const MOST_REASONS = 100;
/** After a longer pause the old ends are not counted, because they would look like a sudden rise. */
const LONGEST_PAUSE_MS = 300_000;

export type OperationMetrics = {
  /** Counts the operations that have ended since the last call. The first call only begins. */
  read(sql: Queryable): Promise<void>;
  /** Another process counts. */
  pause(): void;
};

/**
 * Counts how operations of VMs end, from the events that the database writes with each end. A process
 * counts only while it reports the figures of the fleet, so each end is counted by one process.
 */
export function addOperationMetrics(metrics: Metrics): OperationMetrics {
  const ended = metrics.counter({
    name: 'gantry_fleet_vm_operations_total',
    help: 'Operations of VMs that ended. The reason is the error code of a failed one.',
    labels: ['operation', 'result', 'reason'],
  });
  const running = metrics.histogram({
    name: 'gantry_fleet_vm_time_to_running_seconds',
    help: 'Time from the request to create a VM until its host reported that it runs.',
    buckets: RUNNING_BUCKETS,
  });
  const reasons = new Set<string>();
  const reasonOf = (code: string) => {
    if (reasons.size < MOST_REASONS) reasons.add(code);
    return reasons.has(code) ? code : 'other';
  };
  const count = ({ name, state, code, seconds }: EndedOperation) => {
    const [operation, result] = [name.toLowerCase(), state.toLowerCase()];
    ended.inc({ operation, result, reason: reasonOf(code) });
    if (name === 'CREATE' && state === 'SUCCEEDED' && seconds !== null) running.observe(seconds);
  };
  let since: string | null = null;
  let readAtMs = 0;
  return {
    async read(sql) {
      if (performance.now() > readAtMs + LONGEST_PAUSE_MS) since = null;
      const { horizon, operations } = await readEndedOperations(sql, since);
      since = horizon;
      readAtMs = performance.now();
      for (const operation of operations) count(operation);
    },
    pause() {
      since = null;
    },
  };
}
