import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Metrics } from '@gantry/daemon/metrics/metrics';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { StoragePool } from '../volumes/storage-pools.ts';
import { addHostMetrics } from './host-metrics.ts';
import { parseCpuTimes, parseMemory } from './proc-files.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'gantry-host-metrics-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const POOL: StoragePool = {
  ...{ name: '/data', diskKinds: [], sizeBytes: 100, freeBytes: 40, offeredBytes: 95 },
};

function metricsOf(readStoragePools: () => Promise<StoragePool[]>): Metrics {
  const metrics = new Metrics();
  const procRoot = path.join(directory, 'proc');
  addHostMetrics(metrics, { sysfsRoot: directory, procRoot, readStoragePools });
  return metrics;
}

const seriesOf = async (metrics: Metrics) =>
  (await metrics.render()).split('\n').filter((line) => line && !line.startsWith('#'));

it('shows CPU, memory, storage and the counters of NICs, but no interface of a VM', async () => {
  await mkdir(path.join(directory, 'proc'));
  await writeFile(path.join(directory, 'proc/stat'), 'cpu  200 0 100 700 0 0 0 0 0 0\ncpu0 1 2\n');
  await writeFile(
    path.join(directory, 'proc/meminfo'),
    'MemTotal:       1024 kB\nMemFree: 1 kB\nMemAvailable:    512 kB\n',
  );
  for (const [name, isPhysical] of [
    ['eth0', true],
    ['tap1', false],
  ] as const) {
    const nic = path.join(directory, 'class/net', name);
    await mkdir(path.join(nic, 'statistics'), { recursive: true });
    if (isPhysical) await mkdir(path.join(nic, 'bonding'));
    if (isPhysical) await writeFile(path.join(nic, 'bonding/mode'), '');
    await writeFile(path.join(nic, 'operstate'), 'up\n');
    await writeFile(path.join(nic, 'speed'), '25000\n');
    await writeFile(path.join(nic, 'statistics/rx_bytes'), '123\n');
  }
  expect(await seriesOf(metricsOf(async () => [POOL]))).toEqual(
    expect.arrayContaining([
      'gantry_host_cpu_seconds_total{mode="user"} 2',
      'gantry_host_cpu_seconds_total{mode="idle"} 7',
      'gantry_host_memory_size_bytes 1048576',
      'gantry_host_memory_available_bytes 524288',
      'gantry_host_nic_up{nic="eth0"} 1',
      'gantry_host_nic_speed_bytes_per_second{nic="eth0"} 3125000000',
      'gantry_host_nic_receive_bytes_total{nic="eth0"} 123',
      'gantry_host_storage_pool_free_bytes{pool="/data"} 40',
    ]),
  );
  expect((await seriesOf(metricsOf(async () => []))).join('\n')).not.toContain('tap1');
});

it('what cannot be read has no series', async () => {
  const metrics = metricsOf(() => Promise.reject(new Error('stale file handle')));
  expect(await seriesOf(metrics)).toEqual([]);
});

it('a file system that hangs does not hide the rest, and is not read twice at a time', async () => {
  await mkdir(path.join(directory, 'proc'));
  await writeFile(path.join(directory, 'proc/stat'), 'cpu  100 0 0 0\n');
  let reads = 0;
  const metrics = metricsOf(() => {
    reads += 1;
    return new Promise(() => {});
  });
  expect(await seriesOf(metrics)).toContain('gantry_host_cpu_seconds_total{mode="user"} 1');
  await metrics.render();
  expect(reads).toBe(1);
});

it('files of another form give nothing', () => {
  expect(parseCpuTimes('')).toEqual({});
  expect(parseMemory('MemTotal: 5 kB\n')).toBeNull();
});
