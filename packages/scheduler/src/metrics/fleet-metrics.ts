import type { Log } from '@gantry/daemon/log';
import type { Metrics } from '@gantry/daemon/metrics/metrics';
import type { Sql } from '@gantry/db/connect';
import { readBackupFigures } from '@gantry/db/queries/backups/backup-schedules';
import {
  countExpiringCertificates,
  countVmsByState,
  readDeviceFigures,
  readFleetReporter,
  readHostFigures,
  readOtherFigures,
  readPlaceableFigures,
  readProblemFigures,
  readWaitingFigures,
} from '@gantry/db/queries/operators/fleet-figures';
import { readCapacity } from '@gantry/db/queries/operators/fleet-gpus';
import { readPoolFigures } from '@gantry/db/queries/storage/pool-figures';
import { GPU_USES } from '@gantry/model/host-states';
import { addBackupMetrics } from './backup-metrics.ts';
import { addOperationMetrics } from './operation-metrics.ts';
import { addStorageMetrics } from './storage-metrics.ts';

type FleetMetricsOptions = {
  sql: Sql;
  log: Log;
  schedulerId: string;
  /** The figures are read at most this often. */
  everyMs: number;
};

type Figures = Awaited<ReturnType<typeof readFigures>> & Counts;
type Counts = Awaited<ReturnType<typeof countDevices>>;

/** Devices are counted in every fourth reading only: a fleet has far more of them than of all else. */
const READINGS_PER_COUNT = 4;

/**
 * Adds figures of the whole fleet. They are read from the database when Prometheus asks, at most every few
 * seconds, and only by the scheduler that holds the first lease: the others have no such series, so that
 * sums over all schedulers are right. An installation that is not scraped does not pay for them. If the
 * database does not reply, the series are absent, because old figures would look like present ones.
 */
export function addFleetMetrics(metrics: Metrics, options: FleetMetricsOptions): void {
  const { sql, log, schedulerId, everyMs } = options;
  const operations = addOperationMetrics(metrics);
  let figures: Figures | null = null;
  let counts: Counts | null = null;
  let readAtMs = Number.NEGATIVE_INFINITY;
  let readings = 0;
  let isReading = false;
  const read = async () => {
    if (counts === null || readings % READINGS_PER_COUNT === 0) counts = await countDevices(sql);
    readings += 1;
    return { ...(await readFigures(sql)), ...counts };
  };
  metrics.beforeScrape(async () => {
    // A scrape does not wait for a slow reading, so it may still run at the next one.
    if (isReading || performance.now() < readAtMs + everyMs) return;
    isReading = true;
    readAtMs = performance.now();
    try {
      const isReporter = (await readFleetReporter(sql)) === schedulerId;
      if (isReporter) await operations.read(sql);
      else operations.pause();
      figures = isReporter ? await read() : null;
      if (!isReporter) counts = null;
    } catch (error) {
      figures = null;
      counts = null;
      log.warn({ error }, 'figures of the fleet could not be read for monitoring');
    } finally {
      isReading = false;
    }
  });
  addHosts(metrics, () => figures);
  addDevices(metrics, () => figures);
  addVms(metrics, () => figures);
  addStorageMetrics(metrics, () => figures?.pools ?? []);
  addBackupMetrics(metrics, () => figures?.backups ?? []);
}

/** One statement after the other, so that placement and settling keep their connections. */
async function readFigures(sql: Sql) {
  return {
    hosts: await readHostFigures(sql),
    placeable: await readPlaceableFigures(sql),
    waiting: await readWaitingFigures(sql),
    vms: await countVmsByState(sql),
    others: await readOtherFigures(sql),
    pools: await readPoolFigures(sql),
    backups: await readBackupFigures(sql),
    atSeconds: Date.now() / 1_000,
  };
}

async function countDevices(sql: Sql) {
  return {
    devices: await readDeviceFigures(sql),
    problems: await readProblemFigures(sql),
    gpus: await readCapacity(sql),
    expiringCertificates: await countExpiringCertificates(sql),
  };
}

type Read = () => Figures | null;

function addHosts(metrics: Metrics, read: Read): void {
  metrics.gaugeOf({
    name: 'gantry_fleet_hosts',
    help: 'Hosts by their state and by what operators want of them.',
    labels: ['location', 'state', 'admin_state'],
    read: () =>
      (read()?.hosts ?? []).map(({ location, state, admin_state, hosts }) => ({
        labels: { location, state, admin_state },
        value: hosts,
      })),
  });
  metrics.gaugeOf({
    name: 'gantry_fleet_hosts_drifted',
    help: 'Hosts that differ from what an operator accepted.',
    labels: ['location'],
    read: () => sumByLocation(read(), ({ drifted }) => drifted),
  });
  metrics.gaugeOf({
    name: 'gantry_fleet_hosts_behind',
    help: 'Connected hosts that have not accepted their newest spec.',
    labels: ['location'],
    read: () => sumByLocation(read(), ({ behind }) => behind),
  });
  metrics.gaugeOf({
    name: 'gantry_fleet_hosts_fence_waiting',
    help: 'Hosts whose fence waits for a storage cluster, so that their VMs cannot start elsewhere.',
    labels: ['location'],
    read: () => sumByLocation(read(), ({ unfenced }) => unfenced),
  });
  metrics.gaugeOf({
    name: 'gantry_fleet_hosts_troubled',
    help: 'Connected hosts that take no new VMs, by reason.',
    labels: ['location', 'reason'],
    read: () =>
      (['refusing', 'impaired', 'failing_builds'] as const).flatMap((reason) =>
        sumByLocation(read(), (row) => row[reason]).map(({ labels, value }) => ({
          labels: { ...labels, reason },
          value,
        })),
      ),
  });
  metrics.gaugeOf({
    name: 'gantry_fleet_certificates_expiring',
    help: 'Hosts whose certificate has less than a quarter of its life left.',
    read: () => read()?.expiringCertificates ?? [],
  });
}

/** Every location has a series, also if it has no host. */
function sumByLocation(figures: Figures | null, value: (row: Figures['hosts'][number]) => number) {
  if (!figures) return [];
  const { hosts, waiting } = figures;
  return waiting.map(({ location }) => ({
    labels: { location },
    value: hosts.reduce((sum, row) => sum + (row.location === location ? value(row) : 0), 0),
  }));
}

function addDevices(metrics: Metrics, read: Read): void {
  metrics.gaugeOf({
    name: 'gantry_fleet_devices',
    help: 'Devices by kind and state.',
    labels: ['location', 'kind', 'state'],
    read: () =>
      (read()?.devices ?? []).map(({ location, kind, state, devices }) => ({
        labels: { location, kind, state },
        value: devices,
      })),
  });
  metrics.gaugeOf({
    name: 'gantry_fleet_devices_set_aside',
    help: 'Devices that an operator keeps from new VMs.',
    labels: ['location', 'kind', 'state'],
    read: () =>
      (read()?.devices ?? []).map(({ location, kind, state, set_aside }) => ({
        labels: { location, kind, state },
        value: set_aside,
      })),
  });
  metrics.gaugeOf({
    name: 'gantry_fleet_device_problems',
    help: 'Devices with a problem that a health rule found. A severity of block keeps them from new VMs.',
    labels: ['location', 'kind', 'rule', 'severity'],
    read: () =>
      (read()?.problems ?? []).map(({ location, kind, rule, severity, devices }) => ({
        labels: { location, kind, rule, severity },
        value: devices,
      })),
  });
  metrics.gaugeOf({
    name: 'gantry_fleet_gpus',
    help: 'GPUs by model and use: free, sold, cleaning or blocked.',
    labels: ['location', 'model', 'use'],
    read: () =>
      (read()?.gpus ?? []).flatMap(({ location, model, ...counts }) =>
        GPU_USES.map((use) => ({ labels: { location, model, use }, value: counts[use] })),
      ),
  });
  metrics.gaugeOf({
    name: 'gantry_fleet_gpus_free_on_whole_hosts',
    help: 'Free GPUs of hosts all of whose GPUs are free. The rest of the free GPUs is fragmented.',
    labels: ['location', 'model'],
    read: () =>
      (read()?.gpus ?? []).map(({ location, model, free_on_whole_hosts }) => ({
        labels: { location, model },
        value: free_on_whole_hosts,
      })),
  });
}

function addVms(metrics: Metrics, read: Read): void {
  metrics.gaugeOf({
    name: 'gantry_fleet_vms',
    help: 'VMs by their state.',
    labels: ['state'],
    read: () => (read()?.vms ?? []).map(({ state, vms }) => ({ labels: { state }, value: vms })),
  });
  metrics.gaugeOf({
    name: 'gantry_fleet_vms_placeable',
    help: 'How many more VMs of a type fit. It is counted up to 100.',
    labels: ['location', 'vm_type'],
    read: () =>
      (read()?.placeable ?? []).map(({ location, vm_type, fitting }) => ({
        labels: { location, vm_type },
        value: fitting,
      })),
  });
  metrics.gaugeOf({
    name: 'gantry_fleet_vms_unplaced',
    help: 'VMs that wait for a host.',
    labels: ['location'],
    read: () =>
      (read()?.waiting ?? []).map(({ location, vms }) => ({ labels: { location }, value: vms })),
  });
  metrics.gaugeOf({
    name: 'gantry_fleet_oldest_unplaced_vm_seconds',
    help: 'For how long the oldest VM has waited for a host. Zero if none waits.',
    labels: ['location'],
    read: () =>
      (read()?.waiting ?? []).map(({ location, oldest_seconds }) => ({
        labels: { location },
        value: oldest_seconds,
      })),
  });
  metrics.gaugeOf({
    name: 'gantry_fleet_operations_unfinished',
    help: 'Operations that have not ended.',
    read: () => read()?.others.unfinished_operations ?? [],
  });
  metrics.gaugeOf({
    name: 'gantry_fleet_operations_overdue',
    help: 'Operations that have not ended although their deadline has passed.',
    read: () => read()?.others.overdue_operations ?? [],
  });
  metrics.gaugeOf({
    name: 'gantry_fleet_orphans',
    help: 'VMs on hosts that the database does not place there, and that wait for a decision.',
    read: () => read()?.others.orphans ?? [],
  });
  metrics.gaugeOf({
    name: 'gantry_fleet_usage_closed_timestamp_seconds',
    help: 'Until when the usage of tenants is final, in seconds since 1970.',
    read: () => read()?.others.usage_closed_until ?? [],
  });
  metrics.gaugeOf({
    name: 'gantry_fleet_figures_timestamp_seconds',
    help: 'When the figures of the fleet were read, in seconds since 1970.',
    read: () => read()?.atSeconds ?? [],
  });
}
