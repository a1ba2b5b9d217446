import type { Metrics } from './metrics.ts';

/** What is known about the database of a process. */
type WatchedDatabase = {
  watch: { steadyMs(): number; clockProblem(): string | null };
  connections(): { open: number; busy: number };
};

const PROBE_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];

/** Returns a function to be called with the duration of each probe. */
export function addProbeDuration(metrics: Metrics): (seconds: number) => void {
  const duration = metrics.histogram({
    name: 'gantry_database_probe_duration_seconds',
    help: 'How long the database takes to reply to the probe that is sent once a second.',
    buckets: PROBE_BUCKETS,
  });
  return (seconds) => duration.observe(seconds);
}

export function addDatabaseMetrics(metrics: Metrics, { watch, connections }: WatchedDatabase) {
  metrics.gaugeOf({
    name: 'gantry_database_up',
    help: '1 if the database replies to this process, otherwise 0.',
    read: () => (watch.steadyMs() > 0 ? 1 : 0),
  });
  metrics.gaugeOf({
    name: 'gantry_clock_wrong',
    help: '1 if the clock of this process differs from that of the database, so that it does not serve.',
    read: () => (watch.clockProblem() === null ? 0 : 1),
  });
  metrics.gaugeOf({
    name: 'gantry_database_connections',
    help: 'Connections to the database that are open, by whether a statement runs.',
    labels: ['state'],
    read: () => {
      const { open, busy } = connections();
      return [
        { labels: { state: 'busy' }, value: busy },
        { labels: { state: 'idle' }, value: open - busy },
      ];
    },
  });
}
