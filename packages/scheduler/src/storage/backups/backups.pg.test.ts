import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { StorageCluster } from '@gantry/ceph/storage-cluster';
import { newId } from '@gantry/model/ids';
import { badField, refusal } from '@gantry/testkit/api/read-errors';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { endOverdueOperations } from '../../settle/end-overdue.ts';
import { openBackupFiles } from '../backup-files/open-backup-files.ts';
import { LOCATION, makeStorageWorld, POOL, type StorageWorld } from '../testing/storage-world.ts';

let world: StorageWorld;
let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'gantry-backups-'));
  world = await makeStorageWorld({ backupDirectory: directory });
});
afterAll(async () => {
  await world?.api.stop();
  await rm(directory, { recursive: true, force: true });
});
afterEach(() => world.cluster.setNetwork('up'));

let made = 0;
const newBackup = (diskId: string, body: object = {}) =>
  world.begin('POST', '/backups', { name: `backup-${made++}`, disk_id: diskId, ...body });
/** Backs a disk up and returns the id of the backup. */
async function backUp(diskId: string, body: object = {}): Promise<string> {
  const { resourceId } = await newBackup(diskId, body);
  await world.carryOut();
  return resourceId;
}
const read = async (what: string) => (await world.call('GET', what)).body;
const snapshotsOf = async (name: string) =>
  (await world.cluster.readVolume({ pool: POOL, name }))?.snapshots;
const filesOf = async (diskId: string) =>
  (await readdir(path.join(directory, diskId)).catch(() => [])).sort();
const diskFrom = (backupId: string, body: object = {}) => ({
  ...{ name: `restored-${made++}`, size: '10GiB', location: LOCATION, backup_id: backupId },
  ...body,
});
/** Restores a backup to a new disk and returns its content. */
async function restore(backupId: string): Promise<string> {
  const { id, resourceId } = await world.begin('POST', '/disks', diskFrom(backupId));
  await world.carryOut();
  expect(await world.operation(id)).toMatchObject({ state: 'SUCCEEDED' });
  return world.contentOf(resourceId);
}
const used = async (type: string) => {
  const [row] = await world.api.sql<{ used: number }[]>`select used::int from quotas
    where project_id = ${world.tenant.projectId} and type = ${type}`;
  return row?.used ?? 0;
};

describe('a backup', () => {
  it('is an operation, a file with a checksum and a manifest, is counted, and is gone when deleted', async () => {
    const diskId = await world.makeDisk('one');
    const before = [await used('backups'), await used('backup_gib')];
    const { id, resourceId } = await newBackup(diskId, { tags: { team: 'a' } });
    expect(await read(`/backups/${resourceId}`)).toMatchObject({
      ...{ disk_id: diskId, size: '10GiB', location: LOCATION, state: 'creating', problem: '' },
      ...{ parent_id: '', scheduled: false, stored_bytes: 0, sha256: '', tags: { team: 'a' } },
    });
    await world.carryOut();
    const ready = await read(`/backups/${resourceId}`);
    expect(ready.state).toBe('ready');
    expect(await world.operation(id)).toMatchObject({
      ...{ state: 'SUCCEEDED', name: 'CREATE', resource_type: 'backup', result: ready },
    });
    expect(await filesOf(diskId)).toEqual([`${resourceId}.diff`, `${resourceId}.json`]);
    const content = await readFile(path.join(directory, diskId, `${resourceId}.diff`));
    expect(ready).toMatchObject({
      stored_bytes: content.length,
      sha256: createHash('sha256').update(content).digest('hex'),
    });
    const manifest = await readFile(path.join(directory, diskId, `${resourceId}.json`), 'utf8');
    expect(JSON.parse(manifest)).toMatchObject({
      ...{ version: 1, backup_id: resourceId, disk_id: diskId, parent_id: null, size_gib: 10 },
      ...{ bytes: ready.stored_bytes, sha256: ready.sha256 },
    });
    expect([await used('backups'), await used('backup_gib')]).toEqual([
      (before[0] ?? 0) + 1,
      (before[1] ?? 0) + 10,
    ]);

    const deletion = await world.begin('DELETE', `/backups/${resourceId}`);
    await world.carryOut();
    expect((await world.operation(deletion.id)).state).toBe('SUCCEEDED');
    expect((await world.call('GET', `/backups/${resourceId}`)).status).toBe(404);
    expect(await filesOf(diskId)).toEqual([]);
    expect(await snapshotsOf(diskId)).toEqual([]);
    expect([await used('backups'), await used('backup_gib')]).toEqual(before);
  });

  it('has the changes since the one before, whose snapshot leaves the cluster; each can be restored', async () => {
    const diskId = await world.makeDisk('first');
    const first = await backUp(diskId);
    world.write(diskId, 'second');
    const second = await backUp(diskId);
    const third = await backUp(diskId);
    expect((await read(`/backups/${second}`)).parent_id).toBe(first);
    expect((await read(`/backups/${third}`)).parent_id).toBe(second);
    expect(await snapshotsOf(diskId)).toEqual([third]);
    world.write(diskId, 'lost');
    expect(await restore(first)).toBe('first');
    expect(await restore(second)).toBe('second');
    expect(await restore(third)).toBe('second');
  });

  it('outlives its disk', async () => {
    const diskId = await world.makeDisk('kept');
    const backupId = await backUp(diskId);
    await world.begin('DELETE', `/disks/${diskId}`);
    await world.carryOut();
    expect((await world.call('GET', `/disks/${diskId}`)).status).toBe(404);
    await world.cluster.removeVolume({ pool: POOL, name: diskId });
    expect(await restore(backupId)).toBe('kept');
  });

  it('has the whole content if that is asked for, if no snapshot is left, and after six with changes', async () => {
    const diskId = await world.makeDisk('x');
    const parentOf = async (id: string) => (await read(`/backups/${id}`)).parent_id;
    const first = await backUp(diskId);
    const full = await backUp(diskId, { full: true });
    expect(await parentOf(full)).toBe('');
    await world.cluster.removeSnapshot({ pool: POOL, name: diskId, snapshot: full });
    const after = await backUp(diskId);
    expect(await parentOf(after)).toBe('');
    let last = after;
    for (let each = 0; each < 6; each++) {
      const next = await backUp(diskId);
      expect(await parentOf(next)).toBe(last);
      last = next;
    }
    expect(await parentOf(await backUp(diskId))).toBe('');
    expect(await restore(last)).toBe('x');
    expect(await restore(first)).toBe('x');
  });

  it('that others are based on, or that a disk is being made of, is not deleted', async () => {
    const diskId = await world.makeDisk('one');
    const base = await backUp(diskId);
    const { resourceId: next } = await newBackup(diskId, { name: 'next' });
    await world.carryOut();
    const refused = await world.call('DELETE', `/backups/${base}`);
    expect(refusal(refused)).toEqual([409, 'conflict']);
    expect(refused.body.message).toContain('next');
    const { resourceId: restored } = await world.begin('POST', '/disks', diskFrom(next));
    const busy = await world.call('DELETE', `/backups/${next}`);
    expect(refusal(busy)).toEqual([409, 'conflict']);
    expect(busy.body.message).toContain(restored);
    await world.carryOut();
    for (const id of [next, base]) {
      await world.begin('DELETE', `/backups/${id}`);
      await world.carryOut();
    }
    expect(await filesOf(diskId)).toEqual([]);
    expect((await read(`/backups/${await backUp(diskId)}`)).parent_id).toBe('');
  });

  it('is refused for a disk that its host stores and for a disk of others, and is hidden from others', async () => {
    const { sql } = world.api;
    const diskId = await world.makeDisk('one');
    const backupId = await backUp(diskId);
    await sql`update disks set pool_id = null where id = ${diskId}`;
    const local = await world.call('POST', '/backups', { name: 'local', disk_id: diskId });
    expect(refusal(local)).toEqual([409, 'conflict']);
    const { projectId, accessKey } = world.stranger;
    const at = (rest: string) => `/projects/${projectId}${rest}`;
    const body = { name: 'foreign', disk_id: diskId };
    const foreign = await world.call('POST', at('/backups'), body, accessKey);
    expect(badField(foreign)).toEqual([400, 'disk_id']);
    for (const method of ['GET', 'DELETE'] as const) {
      const reply = await world.call(method, at(`/backups/${backupId}`), undefined, accessKey);
      expect(refusal(reply)).toEqual([404, 'not_found']);
    }
    const disk = await world.call('POST', at('/disks'), diskFrom(backupId), accessKey);
    expect(badField(disk)).toEqual([400, 'backup_id']);
  });

  it('keeps its disk from growing, and its volume from being removed, while it is made', async () => {
    const diskId = await world.makeDisk('one');
    await newBackup(diskId);
    const grown = await world.call('PATCH', `/disks/${diskId}`, { size: '20GiB' });
    expect(refusal(grown)).toEqual([409, 'operation_in_progress']);
    await world.carryOut();
    expect((await world.call('PATCH', `/disks/${diskId}`, { size: '20GiB' })).status).toBe(200);
  });

  it('is limited by two quotas', async () => {
    const { sql } = world.api;
    const diskId = await world.makeDisk('one');
    for (const type of ['backups', 'backup_gib']) {
      await sql`update quotas set max = used where project_id = ${world.tenant.projectId} and type = ${type}`;
      const reply = await world.call('POST', '/backups', { name: 'over', disk_id: diskId });
      expect(refusal(reply)).toEqual([422, 'quota_exceeded']);
      await sql`update quotas set max = 5000000 where project_id = ${world.tenant.projectId} and type = ${type}`;
    }
  });
});

describe('a backup fails', () => {
  it('with the reason if there is no place for it, and can be deleted and repeated', async () => {
    const diskId = await world.makeDisk('one');
    const absent = path.join(directory, 'not-mounted');
    for (const [files, message] of [
      [openBackupFiles(undefined), /GANTRY_BACKUP_DIRECTORY/],
      // Its path is for operators.
      [openBackupFiles(absent), /^the directory of backups … cannot be used/],
    ] as const) {
      const { id, resourceId } = await newBackup(diskId);
      await world.carryOut({ backupFiles: files });
      expect((await world.operation(id)).result).toMatchObject({
        ...{ code: 'storage_failed', message: expect.stringMatching(message) },
      });
      expect(await read(`/backups/${resourceId}`)).toMatchObject({ state: 'failed' });
      await world.begin('DELETE', `/backups/${resourceId}`);
      await world.carryOut();
    }
    expect(await restore(await backUp(diskId))).toBe('one');
  });

  it('if the target did not store what was written, and nothing looks like a backup', async () => {
    const diskId = await world.makeDisk('one');
    const { id, resourceId } = await newBackup(diskId);
    const { cluster } = world;
    const forgetful: StorageCluster = {
      ...cluster,
      async exportSnapshot(at) {
        const exported = await cluster.exportSnapshot(at);
        await writeFile(at.file, 'something else');
        return exported;
      },
    };
    await world.carryOut({ cluster: forgetful });
    expect((await world.operation(id)).result).toMatchObject({
      ...{ code: 'storage_failed', message: expect.stringContaining('has the SHA-256') },
    });
    expect(await read(`/backups/${resourceId}`)).toMatchObject({ state: 'failed' });
    expect(await filesOf(diskId)).toEqual([]);
  });

  it('at its deadline if the cluster is away, and leaves nothing when deleted', async () => {
    const {
      log,
      api: { sql },
    } = world;
    const diskId = await world.makeDisk('one');
    const { id, resourceId } = await newBackup(diskId);
    world.cluster.setNetwork('down');
    await world.carryOut();
    expect(await read(`/backups/${resourceId}`)).toMatchObject({
      ...{ state: 'creating', problem: expect.stringMatching(/reply/) },
    });
    await sql`update operations set deadline_at = now() - interval '1 second' where id = ${id}`;
    await endOverdueOperations({ sql, log });
    expect((await read(`/backups/${resourceId}`)).state).toBe('failed');
    world.cluster.setNetwork('up');
    await world.carryOut();
    expect(await snapshotsOf(diskId)).toEqual([]);
    await world.begin('DELETE', `/backups/${resourceId}`);
    await world.carryOut();
    expect(await filesOf(diskId)).toEqual([]);
  });

  it('at its deadline while its file is verified, and keeps no file', async () => {
    const diskId = await world.makeDisk('one');
    const { resourceId } = await newBackup(diskId);
    const files = openBackupFiles(directory);
    await world.carryOut({
      backupFiles: {
        ...files,
        async verify(file, manifest) {
          await files.verify(file, manifest);
          await world.api
            .sql`update backups set observed_state = 'failed' where id = ${resourceId}`;
        },
      },
    });
    expect(await read(`/backups/${resourceId}`)).toMatchObject({ state: 'failed' });
    expect(await filesOf(diskId)).toEqual([]);
  });
});

describe('a disk from a backup', () => {
  it('is refused if it does not fit the backup', async () => {
    const backupId = await backUp(await world.makeDisk('one'));
    for (const [field, body] of [
      ['size', { size: '9GiB' }],
      ['location', { location: 'us-east-a' }],
      ['type', { type: 'shared-volume' }],
      ['block_size', { block_size: 4096 }],
      ['backup_id', { backup_id: newId() }],
      ['backup_id', { snapshot_id: newId() }],
    ] as const) {
      const reply = await world.call('POST', '/disks', diskFrom(backupId, body));
      expect(badField(reply)).toEqual([400, field]);
    }
  });

  it('fails with the name of a damaged file, and there is no disk', async () => {
    const diskId = await world.makeDisk('first');
    const base = await backUp(diskId);
    world.write(diskId, 'second');
    const next = await backUp(diskId);
    const file = path.join(directory, diskId, `${base}.diff`);
    const content = await readFile(file);
    await writeFile(file, Buffer.concat([content, Buffer.from('!')]));
    const { id, resourceId } = await world.begin('POST', '/disks', diskFrom(next));
    await world.carryOut();
    expect(await world.operation(id)).toMatchObject({
      ...{ state: 'FAILED', result: { code: 'storage_failed' } },
    });
    const { message } = (await world.operation(id)).result;
    expect(message).toContain(`file ${base}.diff is damaged`);
    expect((await world.call('GET', `/disks/${resourceId}`)).status).toBe(404);
    expect(await world.cluster.readVolume({ pool: POOL, name: resourceId })).toBeNull();
    const discarded = await world.api
      .sql`select from discarded_volumes where disk_id = ${resourceId}`;
    expect(discarded).toHaveLength(1);
    await writeFile(file, content);
    expect(await restore(next)).toBe('second');
  });
});

/** Runs a step of every kind, and ends like a process that is killed before or after the nth of them. */
function killedAt(n: number, when: 'before' | 'after') {
  let calls = 0;
  const interrupt = <T extends object>(real: T): T =>
    new Proxy(real, {
      get: (target, name, receiver) => {
        const method: unknown = Reflect.get(target, name, receiver);
        if (typeof method !== 'function' || name === 'readFsid') return method;
        return async (...args: unknown[]) => {
          calls += 1;
          if (calls > n || (calls === n && when === 'before')) throw new Error('killed');
          const result: unknown = await method.apply(target, args);
          if (calls === n) throw new Error('killed');
          return result;
        };
      },
    });
  return {
    cluster: interrupt<StorageCluster>(world.cluster),
    backupFiles: interrupt(openBackupFiles(directory)),
    wasReached: () => calls >= n,
  };
}

describe('a scheduler that is killed between any two steps', () => {
  it.each(['before', 'after'] as const)(
    'loses no backup and leaves nothing behind: killed %s the nth step',
    async (when) => {
      for (let n = 1; ; n++) {
        const diskId = await world.makeDisk('old');
        const base = await backUp(diskId);
        world.write(diskId, 'new');
        const { id, resourceId } = await newBackup(diskId);
        const killed = killedAt(n, when);
        const run = await world.carryOut(killed).then(
          () => 'ended',
          (error: Error) => error.message,
        );
        world.write(diskId, 'later');
        await world.carryOut();
        expect((await world.operation(id)).state).toBe('SUCCEEDED');
        expect(await filesOf(diskId)).toEqual(
          [base, resourceId].flatMap((each) => [`${each}.diff`, `${each}.json`]).sort(),
        );
        expect(await snapshotsOf(diskId)).toEqual([resourceId]);
        // The snapshot of the first attempt counts; if there was none, the next attempt made it.
        expect(['new', 'later']).toContain(await restore(resourceId));
        expect(await restore(base)).toBe('old');
        if (run === 'ended') return;
      }
    },
  );

  it.each(['before', 'after'] as const)(
    'completes a deletion: killed %s the nth step',
    async (when) => {
      for (let n = 1; ; n++) {
        const diskId = await world.makeDisk('old');
        const backupId = await backUp(diskId);
        const { id } = await world.begin('DELETE', `/backups/${backupId}`);
        const run = await world.carryOut(killedAt(n, when)).then(
          () => 'ended',
          (error: Error) => error.message,
        );
        await world.carryOut();
        expect((await world.operation(id)).state).toBe('SUCCEEDED');
        expect(await filesOf(diskId)).toEqual([]);
        expect(await snapshotsOf(diskId)).toEqual([]);
        if (run === 'ended') return;
      }
    },
  );

  it('changes no file of a backup after it lost the lease', async () => {
    const diskId = await world.makeDisk('old');
    await backUp(diskId);
    world.write(diskId, 'new');
    const { id, resourceId } = await newBackup(diskId);
    const { cluster } = world;
    const late: StorageCluster = {
      ...cluster,
      async exportSnapshot(at) {
        // The next holder of the lease makes the backup meanwhile. This one has chosen another base.
        await world.carryOut();
        return await cluster.exportSnapshot({ ...at, since: null });
      },
    };
    const lost = { ...world.lease, epoch: world.lease.epoch - 1 };
    await world.carryOut({ cluster: late, lease: lost });
    expect((await world.operation(id)).state).toBe('SUCCEEDED');
    expect(await restore(resourceId)).toBe('new');
    expect((await filesOf(diskId)).filter((name) => name.includes('.new'))).toEqual([]);
  });

  it('records nothing without the lease, and not a backup whose base was deleted meanwhile', async () => {
    const diskId = await world.makeDisk('one');
    const base = await backUp(diskId);
    const { id, resourceId } = await newBackup(diskId);
    await world.carryOut({ lease: { ...world.lease, epoch: world.lease.epoch - 1 } });
    expect((await world.operation(id)).state).toBe('IN_PROGRESS');
    const files = openBackupFiles(directory);
    await world.carryOut({
      backupFiles: {
        ...files,
        async verify(file, manifest) {
          await files.verify(file, manifest);
          await world.api.sql`update backups set desired_state = 'deleted' where id = ${base}`;
        },
      },
    });
    expect((await world.operation(id)).state).toBe('IN_PROGRESS');
    await world.carryOut();
    expect(await read(`/backups/${resourceId}`)).toMatchObject({ state: 'ready', parent_id: '' });
    expect(await restore(resourceId)).toBe('one');
  });
});
