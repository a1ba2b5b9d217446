/**
 * Measures what calls to a storage cluster cost: wall and processor time of the helper, beside one start of `rbd` or
 * `ceph` for the same. It starts a cluster of its own.
 */
import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { connectCeph } from '@gantry/ceph/ceph-cluster';
import type { Volume } from '@gantry/ceph/storage-cluster';
import { startCeph } from '@gantry/testkit/ceph/start-ceph';

const RUNS = Number(process.env['GANTRY_BENCH_RUNS'] ?? 20);
const TICKS_PER_SECOND = 100;
const pool = 'volumes';
const sizeBytes = 2 ** 30;

const ceph = await startCeph();
const cluster = connectCeph(ceph);
try {
  const file = path.join(ceph.directory, 'image.raw');
  await writeFile(file, Buffer.alloc(2 ** 22, 'i'));
  const labels = { installation: 'bench', resource: 'image' };
  await cluster.importImage({ pool, name: 'image', labels, file, format: 'raw' });
  await cluster.readFsid();

  const create = (image?: string): Promise<Volume> => {
    const name = randomUUID();
    const of = image === undefined ? {} : { image };
    const labels = { installation: 'bench', resource: name };
    return cluster.createVolume({ pool, name, sizeBytes, labels, ...of });
  };
  const some = await Promise.all(Array.from({ length: RUNS }, () => create('image')));
  const at = (run: number) => some[run % some.length] as Volume;
  const names = Array.from({ length: RUNS }, () => randomUUID());

  await measure('create', () => create());
  await measure('clone', () => create('image'));
  await measure('read', (run) => cluster.readVolume(at(run)));
  await measure('grow', (run) => cluster.growVolume({ ...at(run), sizeBytes: 2 * sizeBytes }));
  await measure('snapshot', (run) => cluster.createSnapshot({ ...at(run), snapshot: 's' }));
  await measure('key', (run) =>
    cluster.createKey({ entity: `bench-${run}`, pool, volume: at(run) }),
  );
  await measure('fence', (run) => cluster.fence([`192.0.2.${run + 1}`]));
  await measure('remove', (run) => cluster.removeVolume(at(run)));

  const spawned = (name: string, command: (run: number) => string[]) =>
    measure(`  ${command(0).slice(0, 2).join(' ')} (${name})`, (run) => {
      const [program = '', ...args] = command(run);
      return ceph.run(program, ...args);
    });
  const volume = (run: number) => `${pool}/${names[run]}`;
  await spawned('clone', (run) => ['rbd', 'clone', `${pool}/image@image`, volume(run)]);
  await spawned('read', (run) => ['rbd', 'info', volume(run)]);
  await spawned('snapshot', (run) => [
    'rbd',
    'snap',
    'create',
    '--no-progress',
    `${volume(run)}@s`,
  ]);
  await spawned('key', (run) => [
    'ceph',
    'auth',
    'get-or-create',
    `client.b${run}`,
    'mon',
    'allow r',
  ]);
} finally {
  await cluster.close();
  await ceph.stop();
}

async function measure(name: string, call: (run: number) => Promise<unknown>): Promise<void> {
  const walls: number[] = [];
  const before = usedSeconds();
  for (let run = 0; run < RUNS; run++) {
    const start = performance.now();
    await call(run);
    walls.push(performance.now() - start);
  }
  const cpu = ((usedSeconds() - before) / RUNS) * 1000;
  const sorted = walls.sort((a, b) => a - b);
  const at = (share: number) => (sorted[Math.floor(share * (sorted.length - 1))] ?? 0).toFixed(0);
  const wall = `least ${at(0)}, median ${at(0.5)}, worst ${at(1)} ms`;
  console.log(`${name.padEnd(24)} ${wall}, ${cpu.toFixed(0)} ms of processor time`);
}

/** Processor time of the helpers that run, and of all programs that have ended, without the cluster's daemons. */
function usedSeconds(): number {
  const own = fieldsOf(process.pid);
  const ended = Number(own[13]) + Number(own[14]);
  const helpers = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => Number(name))
    .filter((pid) => Number(fieldsOf(pid)[1]) === process.pid && isHelper(pid))
    .map((pid) => Number(fieldsOf(pid)[11]) + Number(fieldsOf(pid)[12]));
  return (ended + helpers.reduce((total, ticks) => total + ticks, 0)) / TICKS_PER_SECOND;
}

function isHelper(pid: number): boolean {
  return readText(`/proc/${pid}/cmdline`).includes('gantry-ceph.py');
}

/** The fields of a process's state after its name, which may contain spaces. */
function fieldsOf(pid: number): string[] {
  return readText(`/proc/${pid}/stat`).split(') ').at(-1)?.split(' ') ?? [];
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
