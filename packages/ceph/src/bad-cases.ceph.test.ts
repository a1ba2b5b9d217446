import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { startCeph, type TestCeph } from '@gantry/testkit/ceph/start-ceph';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectCeph } from './ceph-cluster.ts';
import type { NewVolume, StorageCluster } from './storage-cluster.ts';

/** What the control plane sees of a cluster that does not do what it should. */
describe('a Ceph cluster with trouble', () => {
  const pool = 'volumes';
  let ceph: TestCeph;
  let cluster: StorageCluster;
  let file: string;

  const makeNew = (): NewVolume => {
    const name = randomUUID();
    return { pool, name, sizeBytes: 2 ** 23, labels: { installation: 'here', resource: name } };
  };
  const rbd = (...args: string[]) => ceph.run('rbd', ...args);
  const listAll = async () => JSON.parse(await rbd('ls', pool, '--format', 'json')) as string[];

  beforeAll(async () => {
    ceph = await startCeph();
    cluster = connectCeph(ceph);
    file = path.join(ceph.directory, 'image.raw');
    await writeFile(file, Buffer.alloc(2 ** 20, 'i'));
  });
  afterAll(async () => {
    await cluster?.close();
    await ceph?.stop();
  });

  it('a backup may take longer than the limit while it goes on, and fails when nobody reads it', async () => {
    const slowLimitMs = 5_000;
    const patient = connectCeph({ ...ceph, slowLimitMs });
    const pipe = path.join(ceph.directory, 'backup.pipe');
    await promisify(execFile)('mkfifo', [pipe]);
    try {
      const at = { ...(await cluster.createVolume(makeNew())), snapshot: 's' };
      await ceph.run(
        'rbd',
        'bench',
        '--io-type',
        'write',
        '--io-total',
        '8M',
        `${pool}/${at.name}`,
      );
      await cluster.createSnapshot(at);
      const exporting = patient.exportSnapshot({ ...at, since: null, file: pipe });
      const reader = createReadStream(pipe, { highWaterMark: 65_536 });
      const startMs = performance.now();
      let bytes = 0;
      for await (const block of reader) {
        bytes += block.length;
        // Read so slowly that the whole takes half again as long as the limit.
        const dueMs = startMs + (bytes / 2 ** 23) * slowLimitMs * 1.5;
        await setTimeout(Math.max(0, dueMs - performance.now()));
      }
      expect(await exporting).toMatchObject({ bytes });
      expect(performance.now() - startMs).toBeGreaterThan(slowLimitMs);

      const stuck = patient.exportSnapshot({ ...at, since: null, file: pipe });
      const idle = await open(pipe);
      await expect(stuck).rejects.toMatchObject({ code: 'unreachable' });
      await idle.close();
    } finally {
      await patient.close();
    }
  });

  it('every call throws `unreachable` within its limit if the mon does not reply', async () => {
    const volume = await cluster.createVolume(makeNew());
    const late = connectCeph({ ...ceph, requestLimitMs: 1000 });
    const at = { ...volume, snapshot: 's' };
    const share = { fileSystem: 'shares', installation: 'here', name: 's' };
    const known = { ...share, pool: 'shares', path: '/s', sizeBytes: 1, watchers: [] };
    const calls: Record<keyof Omit<StorageCluster, 'close'>, () => Promise<unknown>> = {
      readFsid: () => late.readFsid(),
      readPool: () => late.readPool(pool),
      isPoolFull: () => late.isPoolFull(pool),
      createVolume: () => late.createVolume(makeNew()),
      readVolume: () => late.readVolume(volume),
      listVolumes: () => late.listVolumes(pool),
      growVolume: () => late.growVolume({ ...volume, sizeBytes: 2 ** 24 }),
      removeVolume: () => late.removeVolume(volume),
      emptyTrash: () => late.emptyTrash(pool),
      createSnapshot: () => late.createSnapshot(at),
      removeSnapshot: () => late.removeSnapshot(at),
      restoreSnapshot: () => late.restoreSnapshot(at),
      copySnapshot: () => late.copySnapshot({ from: at, to: makeNew() }),
      exportSnapshot: () => late.exportSnapshot({ ...at, since: null, file: `${file}.diff` }),
      importBackup: () => late.importBackup({ ...makeNew(), parts: [] }),
      importImage: () => late.importImage({ ...makeNew(), file, format: 'raw' }),
      createKey: () => late.createKey({ entity: 'k', pool, volume }),
      removeKey: () => late.removeKey('k'),
      listKeys: () => late.listKeys('k'),
      fence: () => late.fence(['192.0.2.1']),
      unfence: () => late.unfence(['192.0.2.1']),
      listFences: () => late.listFences(),
      breakLock: () => late.breakLock(volume),
      createShare: () => late.createShare({ ...share, pool: 'shares', sizeBytes: 2 ** 23 }),
      readShare: () => late.readShare(share),
      listShares: () => late.listShares(share),
      growShare: () => late.growShare({ ...share, sizeBytes: 2 ** 24 }),
      removeShare: () => late.removeShare(share),
      createShareKey: () => late.createShareKey({ entity: 's', share: known }),
      endFencedSessions: () => late.endFencedSessions(share.fileSystem),
    };
    ceph.mon.suspend();
    try {
      const start = performance.now();
      const results = await Promise.all(
        Object.entries(calls).map(async ([name, call]) => [
          name,
          await call().then(
            () => 'succeeded',
            (error: { code: string }) => error.code,
          ),
        ]),
      );
      const names = Object.keys(calls).map((name) => [name, 'unreachable']);
      expect(Object.fromEntries(results)).toEqual(Object.fromEntries(names));
      // By itself librados waits for 300 s.
      expect(performance.now() - start).toBeLessThan(60_000);
    } finally {
      ceph.mon.resume();
    }
    expect(await late.readVolume(volume)).toEqual(volume);
    await late.close();
  });

  it('calls throw `unreachable` while no OSD replies, and succeed afterwards', async () => {
    const short = connectCeph({ ...ceph, requestLimitMs: 1000 });
    const wanted = makeNew();
    const volume = await short.createVolume(makeNew());
    const [osd] = ceph.osds;
    osd?.suspend();
    try {
      const unreachable = { code: 'unreachable' };
      await expect(short.readVolume(volume)).rejects.toMatchObject(unreachable);
      await expect(short.createVolume(wanted)).rejects.toMatchObject(unreachable);
      await expect(short.removeVolume(volume)).rejects.toMatchObject(unreachable);
    } finally {
      osd?.resume();
    }
    expect(await short.readVolume(volume)).toEqual(volume);
    expect(await short.createVolume(wanted)).toMatchObject({ labels: wanted.labels });
    await short.close();
  });

  it('the space of a pool is null if no manager reports it', async () => {
    expect(await cluster.readPool(pool)).toBeNull();
  });

  it('a wrong key is not mistaken for a volume that does not exist', async () => {
    const key = Buffer.from(ceph.key, 'base64');
    // The secret begins after the type, the time and the length.
    const wrong = Buffer.concat([key.subarray(0, 12), key.subarray(12).reverse()]);
    const stranger = connectCeph({ ...ceph, key: wrong.toString('base64'), requestLimitMs: 1000 });
    const attempt = stranger.readVolume({ pool, name: 'x' });
    await expect(attempt).rejects.toMatchObject({ code: 'denied' });
    await stranger.close();
  });

  it('a helper that was killed is started again by the next call', async () => {
    const fsid = await cluster.readFsid();
    const killed = await listHelpers();
    expect(killed.length).toBeGreaterThan(0);
    for (const pid of killed) process.kill(pid, 'SIGKILL');
    await expect.poll(() => cluster.readFsid().catch(() => '')).toBe(fsid);
    expect(await listHelpers()).not.toEqual(expect.arrayContaining(killed));
  });

  it('what an interrupted creation left is replaced by the next one, and removed with the volume', async () => {
    const wanted = makeNew();
    const unfinished = `${wanted.name}.new`;
    await rbd('create', '--size', '1M', `${pool}/${unfinished}`);
    expect(await cluster.listVolumes(pool)).not.toContain(unfinished);
    const volume = await cluster.createVolume(wanted);
    expect(volume).toMatchObject({ sizeBytes: wanted.sizeBytes, labels: wanted.labels });
    expect(await listAll()).not.toContain(unfinished);
    await rbd('create', '--size', '1M', `${pool}/${unfinished}`);
    await cluster.removeVolume(volume);
    const left = (await listAll()).filter((name) => name.startsWith(wanted.name));
    expect(left).toEqual([]);
  });

  it('volumes that others put into the trash stay there', async () => {
    const foreign = randomUUID();
    await rbd('create', '--size', '1M', `${pool}/${foreign}`);
    await rbd('trash', 'mv', `${pool}/${foreign}`);
    const ours = await cluster.createVolume(makeNew());
    await rbd('trash', 'mv', `${pool}/${ours.name}`);
    await cluster.emptyTrash(pool);
    const names = (await rbd('trash', 'ls', pool)).split('\n').map((line) => line.split(' ')[1]);
    expect(names).toEqual(expect.arrayContaining([foreign, ours.name]));
  });

  it('a qcow2 file is imported with its content, and refused with a backing file', async () => {
    const base = path.join(ceph.directory, 'base.qcow2');
    const top = path.join(ceph.directory, 'top.qcow2');
    await ceph.run('qemu-img', 'convert', '-f', 'raw', '-O', 'qcow2', file, base);
    await ceph.run('qemu-img', 'create', '-q', '-f', 'qcow2', '-b', base, '-F', 'qcow2', top);
    const { sizeBytes: _, ...named } = makeNew();
    const image = { ...named, format: 'qcow2' as const };
    const refused = cluster.importImage({ ...image, file: top });
    await expect(refused).rejects.toThrow('has a backing file');
    expect(await cluster.readVolume(image)).toBeNull();
    expect(await cluster.importImage({ ...image, file: base })).toMatchObject({
      sizeBytes: 2 ** 20,
    });
    const copy = path.join(ceph.directory, 'copy.raw');
    await rbd('export', '--no-progress', `${pool}/${image.name}`, copy);
    await ceph.run('cmp', file, copy);
  });

  it('a full pool throws `full` at once, and removals still succeed', async () => {
    const volume = await cluster.createVolume(makeNew());
    await cluster.createSnapshot({ ...volume, snapshot: 's' });
    await ceph.setFull(true);
    const refused = cluster.createVolume(makeNew());
    await expect(refused).rejects.toMatchObject({ code: 'full' });
    expect(await cluster.isPoolFull(pool)).toBe(true);
    await cluster.removeVolume(volume);
    expect(await cluster.readVolume(volume)).toBeNull();
    await ceph.setFull(false);
    await cluster.createVolume(makeNew());
  });
});

/** Returns the process ids of the helpers of this process. */
async function listHelpers(): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const found: number[] = [];
  for (const pid of pids) {
    const read = (name: string) => readFile(`/proc/${pid}/${name}`, 'utf8').catch(() => '');
    const parent = /\) \S (\d+)/.exec(await read('stat'))?.[1];
    const isHelper = (await read('cmdline')).includes('gantry-ceph.py');
    if (isHelper && Number(parent) === process.pid) found.push(Number(pid));
  }
  return found;
}
