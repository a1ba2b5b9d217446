import type { Metrics } from '@gantry/daemon/metrics/metrics';
import type { AttachedHost } from '../attached/attached-hosts.ts';

type Observed = {
  hosts: { values(): Iterable<AttachedHost> };
  /** The locations whose leases this process holds. */
  locations: () => string[];
  /** When the first of the trusted authorities expires. */
  authorityExpiresMs: () => number;
};

const SETTLE_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];

/**
 * Adds what this process knows about itself and the hosts attached to it. Nothing is read from the
 * database. Returns a function to be called with the duration of each settled report.
 */
export function addSchedulerMetrics(
  metrics: Metrics,
  { hosts, locations, authorityExpiresMs }: Observed,
): (seconds: number) => void {
  metrics.gaugeOf({
    name: 'gantry_scheduler_streams',
    help: 'Hosts whose stream this process holds, by the version of their agent.',
    labels: ['agent_version'],
    read: () => {
      const counts = new Map<string, number>();
      for (const { agentVersion } of hosts.values())
        counts.set(agentVersion, (counts.get(agentVersion) ?? 0) + 1);
      return [...counts].map(([agent_version, value]) => ({ labels: { agent_version }, value }));
    },
  });
  metrics.gaugeOf({
    name: 'gantry_scheduler_lease_held',
    help: '1 for each location whose lease this process holds: it places the VMs there.',
    labels: ['location'],
    read: () => locations().map((location) => ({ labels: { location }, value: 1 })),
  });
  metrics.gaugeOf({
    name: 'gantry_scheduler_unacknowledged_specs',
    help: 'Hosts that have not acknowledged a spec that was sent to them.',
    read: () => waitsMs(hosts.values()).length,
  });
  metrics.gaugeOf({
    name: 'gantry_scheduler_oldest_unacknowledged_spec_seconds',
    help: 'For how long the slowest host has not acknowledged a spec. Zero if all have.',
    read: () => Math.max(0, ...waitsMs(hosts.values())) / 1_000,
  });
  metrics.gaugeOf({
    name: 'gantry_scheduler_unsettled_reports',
    help: 'Hosts whose last report is not in the database yet.',
    read: () =>
      [...hosts.values()].filter(({ unsettled, settling }) => unsettled || settling).length,
  });
  metrics.gaugeOf({
    name: 'gantry_scheduler_consoles',
    help: 'Open consoles that pass through this process.',
    read: () => [...hosts.values()].reduce((sum, { consoles }) => sum + consoles.size, 0),
  });
  metrics.gaugeOf({
    name: 'gantry_scheduler_authority_expiry_timestamp_seconds',
    help: "When the first of the fleet's trusted authorities expires, in seconds since 1970.",
    read: () => authorityExpiresMs() / 1_000,
  });
  const settled = metrics.histogram({
    name: 'gantry_scheduler_report_settle_duration_seconds',
    help: 'How long it takes to write a report into the database.',
    buckets: SETTLE_BUCKETS,
  });
  return (seconds) => settled.observe(seconds);
}

function waitsMs(hosts: Iterable<AttachedHost>): number[] {
  const nowMs = performance.now();
  return [...hosts].flatMap(({ sent }) =>
    sent.waitingSinceMs === null ? [] : nowMs - sent.waitingSinceMs,
  );
}
