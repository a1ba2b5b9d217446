import type { Metrics } from '@gantry/daemon/metrics/metrics';
import { within } from '@gantry/daemon/within';
import { Sysfs } from '../base/sysfs.ts';
import { type Nic, readNics } from '../inventory/nics.ts';
import type { StoragePool } from '../volumes/storage-pools.ts';
import { type CpuTimes, type Memory, parseCpuTimes, parseMemory } from './proc-files.ts';

type ObservedHost = {
  sysfsRoot: string;
  procRoot: string;
  readStoragePools: () => Promise<StoragePool[]>;
};

type CountedNic = Nic & { counters: Record<NicCounter, number | undefined> };
type NicCounter = keyof typeof NIC_COUNTERS;

/** The files of the kernel and the metrics that they become. */
const NIC_COUNTERS = {
  rx_bytes: ['gantry_host_nic_receive_bytes_total', 'Bytes that the NIC received.'],
  tx_bytes: ['gantry_host_nic_transmit_bytes_total', 'Bytes that the NIC sent.'],
  rx_errors: [
    'gantry_host_nic_receive_errors_total',
    'Packets that the NIC received with an error.',
  ],
  tx_errors: ['gantry_host_nic_transmit_errors_total', 'Packets that the NIC could not send.'],
} as const;

/** Pools may be on a cluster file system or need LVM's programs, so they are read less often. */
const POOLS_EVERY_MS = 10_000;
/** A file system that hangs must not hide everything else. */
const POOLS_LIMIT_MS = 2_000;

/**
 * Adds the CPUs, memory, storage and NICs of the host. Interfaces of VMs are left out, because they come
 * and go with VMs. What cannot be read has no series.
 */
export function addHostMetrics(metrics: Metrics, host: ObservedHost): void {
  const proc = new Sysfs(host.procRoot);
  const sysfs = new Sysfs(host.sysfsRoot);
  let cpu: CpuTimes = {};
  let memory: Memory | null = null;
  let nics: CountedNic[] = [];
  metrics.beforeScrape(async () => {
    cpu = parseCpuTimes((await proc.text('stat')) ?? '');
    memory = parseMemory((await proc.text('meminfo')) ?? '');
    nics = await readCounters(sysfs);
  });
  metrics.counterOf({
    name: 'gantry_host_cpu_seconds_total',
    help: 'Time that all CPUs of the host together spent in a mode. VMs count as user.',
    labels: ['mode'],
    read: () => Object.entries(cpu).map(([mode, value]) => ({ labels: { mode }, value })),
  });
  metrics.gaugeOf({
    name: 'gantry_host_memory_size_bytes',
    help: 'Memory of the host.',
    read: () => memory?.totalBytes ?? [],
  });
  metrics.gaugeOf({
    name: 'gantry_host_memory_available_bytes',
    help: 'Memory that programs can get without swapping. Hugepages are not part of it.',
    read: () => memory?.availableBytes ?? [],
  });
  addNics(metrics, () => nics);
  addPools(metrics, host.readStoragePools);
}

function addNics(metrics: Metrics, read: () => readonly CountedNic[]): void {
  metrics.gaugeOf({
    name: 'gantry_host_nic_up',
    help: '1 if the link of the NIC is up, otherwise 0.',
    labels: ['nic'],
    read: () => read().map(({ name, up }) => ({ labels: { nic: name }, value: up ? 1 : 0 })),
  });
  metrics.gaugeOf({
    name: 'gantry_host_nic_speed_bytes_per_second',
    help: 'The speed of the link of the NIC.',
    labels: ['nic'],
    read: () =>
      read().flatMap(({ name, speedMbps }) =>
        speedMbps === undefined ? [] : { labels: { nic: name }, value: speedMbps * 125_000 },
      ),
  });
  for (const [file, [name, help]] of Object.entries(NIC_COUNTERS)) {
    metrics.counterOf({
      ...{ name, help },
      labels: ['nic'],
      read: () =>
        read().flatMap((nic) => {
          const value = nic.counters[file as NicCounter];
          return value === undefined ? [] : { labels: { nic: nic.name }, value };
        }),
    });
  }
}

async function readCounters(sysfs: Sysfs): Promise<CountedNic[]> {
  const nics: CountedNic[] = [];
  for (const nic of await readNics(sysfs)) {
    const read = (file: NicCounter) => sysfs.integer(`class/net/${nic.name}/statistics/${file}`);
    const counters = {
      rx_bytes: await read('rx_bytes'),
      tx_bytes: await read('tx_bytes'),
      rx_errors: await read('rx_errors'),
      tx_errors: await read('tx_errors'),
    };
    nics.push({ ...nic, counters });
  }
  return nics;
}

/** A pool that does not reply in time has no series until it does. */
function addPools(metrics: Metrics, readStoragePools: () => Promise<StoragePool[]>): void {
  let pools: StoragePool[] = [];
  let reading: Promise<void> | null = null;
  let readAtMs = Number.NEGATIVE_INFINITY;
  const read = async () => {
    try {
      pools = await readStoragePools();
    } catch {
      pools = [];
    } finally {
      reading = null;
    }
  };
  metrics.beforeScrape(async () => {
    if (!reading && performance.now() >= readAtMs + POOLS_EVERY_MS) {
      readAtMs = performance.now();
      reading = read();
    }
    if (!reading) return;
    const waiting = reading;
    await within(POOLS_LIMIT_MS, waiting);
    if (reading === waiting) pools = [];
  });
  metrics.gaugeOf({
    name: 'gantry_host_storage_pool_size_bytes',
    help: 'The size of a file system, volume group or thin pool that stores disks.',
    labels: ['pool'],
    read: () => pools.map(({ name, sizeBytes }) => ({ labels: { pool: name }, value: sizeBytes })),
  });
  metrics.gaugeOf({
    name: 'gantry_host_storage_pool_free_bytes',
    help: 'What is free of it.',
    labels: ['pool'],
    read: () => pools.map(({ name, freeBytes }) => ({ labels: { pool: name }, value: freeBytes })),
  });
}
