import type { StorageCluster } from '@gantry/ceph/storage-cluster';
import { StorageError } from '@gantry/ceph/storage-error';
import { newId } from '@gantry/model/ids';
import { badField, refusal } from '@gantry/testkit/api/read-errors';
import { finishVm } from '@gantry/testkit/make/finished';
import { vmBody } from '@gantry/testkit/make/request-bodies';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { endOverdueOperations } from '../../settle/end-overdue.ts';
import { makeStorageWorld, POOL, type StorageWorld } from '../testing/storage-world.ts';

let world: StorageWorld;
beforeAll(async () => {
  world = await makeStorageWorld();
});
afterAll(() => world?.api.stop());
afterEach(() => world.cluster.setNetwork('up'));

let made = 0;
const newSnapshot = (diskId: string, body: object = {}) =>
  world.begin('POST', '/snapshots', { name: `snapshot-${made++}`, disk_id: diskId, ...body });

/** Makes a snapshot of a disk and returns its id. */
async function makeSnapshot(diskId: string): Promise<string> {
  const { resourceId } = await newSnapshot(diskId);
  await world.carryOut();
  return resourceId;
}
const read = async (path: string) => (await world.call('GET', path)).body;
const snapshotsOf = async (name: string) =>
  (await world.cluster.readVolume({ pool: POOL, name }))?.snapshots;
const used = async (type: string) => {
  const [row] = await world.api.sql<{ used: number }[]>`select used::int from quotas
    where project_id = ${world.tenant.projectId} and type = ${type}`;
  return row?.used;
};

describe('a snapshot', () => {
  it('is an operation, is made in the cluster, counted and metered, and outlives nothing when deleted', async () => {
    const diskId = await world.makeDisk('one');
    const before = [await used('snapshots'), await used('snapshot_gib')];
    const { id, resourceId } = await newSnapshot(diskId, { tags: { team: 'a' } });
    expect(await read(`/snapshots/${resourceId}`)).toMatchObject({
      ...{ disk_id: diskId, type: 'persistent-ssd', size: '10GiB', location: 'eu-north-a' },
      ...{ state: 'creating', problem: '', block_size: 512, tags: { team: 'a' } },
    });
    await world.carryOut();
    const ready = await read(`/snapshots/${resourceId}`);
    expect(ready.state).toBe('ready');
    expect(await world.operation(id)).toMatchObject({
      ...{ state: 'SUCCEEDED', name: 'CREATE', resource_type: 'snapshot', result: ready },
    });
    expect(await snapshotsOf(diskId)).toEqual([resourceId]);
    expect([await used('snapshots'), await used('snapshot_gib')]).toEqual([
      (before[0] ?? 0) + 1,
      (before[1] ?? 0) + 10,
    ]);
    const [meter] = await world.api
      .sql`select resource_type, units::int, ended_at from meter_intervals
      where resource_id = ${resourceId}`;
    expect(meter).toEqual({ resource_type: 'snapshot', units: 10, ended_at: null });

    const deletion = await world.begin('DELETE', `/snapshots/${resourceId}`);
    expect((await read(`/snapshots/${resourceId}`)).state).toBe('deleting');
    await world.carryOut();
    expect((await world.operation(deletion.id)).state).toBe('SUCCEEDED');
    expect((await world.call('GET', `/snapshots/${resourceId}`)).status).toBe(404);
    expect(await snapshotsOf(diskId)).toEqual([]);
    expect([await used('snapshots'), await used('snapshot_gib')]).toEqual(before);
    const [ended] = await world.api
      .sql`select ended_at from meter_intervals where resource_id = ${resourceId}`;
    expect(ended?.['ended_at']).not.toBeNull();
  });

  it('is renamed and tagged at once, and its name is unique in the project', async () => {
    const diskId = await world.makeDisk('one');
    const snapshotId = await makeSnapshot(diskId);
    const { id } = await world.begin('PATCH', `/snapshots/${snapshotId}`, {
      ...{ name: 'renamed', tags: { a: 'b' } },
    });
    expect(await world.operation(id)).toMatchObject({
      ...{ state: 'SUCCEEDED', name: 'UPDATE', result: { name: 'renamed', tags: { a: 'b' } } },
    });
    const again = await world.call('POST', '/snapshots', { name: 'renamed', disk_id: diskId });
    expect(refusal(again)).toEqual([409, 'name_taken']);
    const found = await read('/snapshots?names=renamed&tag=a:b');
    expect(found.items.map((each: { id: string }) => each.id)).toEqual([snapshotId]);
    expect(badField(await world.call('PATCH', `/snapshots/${snapshotId}`, {}))).toEqual([
      400,
      'name',
    ]);
  });

  it('is refused for a disk that nothing stores yet, and for a disk of others', async () => {
    const { sql } = world.api;
    const diskId = await world.makeDisk('one');
    await sql`update disks set pool_id = null where id = ${diskId}`;
    const reply = await world.call('POST', '/snapshots', { name: 'local', disk_id: diskId });
    expect(refusal(reply)).toEqual([409, 'conflict']);
    expect(reply.body.message).toBe(
      'no host stores the disk yet: attach it to a VM that runs, or delete it',
    );
    const foreign = await world.call(
      'POST',
      `/projects/${world.stranger.projectId}/snapshots`,
      {
        ...{ name: 'foreign', disk_id: diskId },
      },
      world.stranger.accessKey,
    );
    expect(badField(foreign)).toEqual([400, 'disk_id']);
  });

  it('of another project does not exist', async () => {
    const snapshotId = await makeSnapshot(await world.makeDisk('one'));
    const path = `/projects/${world.stranger.projectId}/snapshots/${snapshotId}`;
    const { accessKey } = world.stranger;
    for (const [method, url, body] of [
      ['GET', path],
      ['PATCH', path, { name: 'mine' }],
      ['DELETE', path],
      ['POST', `${path}:restore`],
    ] as const) {
      expect(refusal(await world.call(method, url, body, accessKey))).toEqual([404, 'not_found']);
    }
    const disks = `/projects/${world.stranger.projectId}/disks`;
    const copy = { name: 'x', size: '10GiB', location: 'eu-north-a', snapshot_id: snapshotId };
    expect(badField(await world.call('POST', disks, copy, accessKey))).toEqual([
      400,
      'snapshot_id',
    ]);
  });

  it('fails for good if the volume is gone, and for its deadline if the cluster is away; both can be deleted', async () => {
    const {
      log,
      api: { sql },
    } = world;
    const lost = await world.makeDisk('one');
    await world.cluster.removeVolume({ pool: POOL, name: lost });
    const first = await newSnapshot(lost);
    await world.carryOut();
    expect(await read(`/snapshots/${first.resourceId}`)).toMatchObject({
      ...{ state: 'failed', problem: expect.stringContaining(lost) },
    });
    expect(await world.operation(first.id)).toMatchObject({
      ...{ state: 'FAILED', result: { code: 'storage_failed' } },
    });

    const second = await newSnapshot(await world.makeDisk('two'));
    world.cluster.setNetwork('down');
    await world.carryOut();
    const waiting = await read(`/snapshots/${second.resourceId}`);
    expect(waiting).toMatchObject({ state: 'creating', problem: expect.stringMatching(/reply/) });
    await sql`update operations set deadline_at = now() - interval '1 second' where id = ${second.id}`;
    await endOverdueOperations({ sql, log });
    expect((await read(`/snapshots/${second.resourceId}`)).state).toBe('failed');
    expect((await world.operation(second.id)).result.code).toBe('storage_failed');

    world.cluster.setNetwork('up');
    for (const { resourceId } of [first, second]) {
      await world.begin('DELETE', `/snapshots/${resourceId}`);
      await world.carryOut();
      expect((await world.call('GET', `/snapshots/${resourceId}`)).status).toBe(404);
    }
  });

  it('is exact once if the reply of the cluster is lost, and nothing is recorded without the lease', async () => {
    const diskId = await world.makeDisk('one');
    const { resourceId } = await newSnapshot(diskId);
    world.cluster.setNetwork('no_replies');
    await world.carryOut();
    world.cluster.setNetwork('up');
    expect(await snapshotsOf(diskId)).toEqual([resourceId]);
    await world.carryOut({ lease: { ...world.lease, epoch: world.lease.epoch - 1 } });
    expect((await read(`/snapshots/${resourceId}`)).state).toBe('creating');
    await world.carryOut();
    expect((await read(`/snapshots/${resourceId}`)).state).toBe('ready');
    expect(await snapshotsOf(diskId)).toEqual([resourceId]);
  });

  it('keeps its disk from growing and from being restored while it is made; the pool limits the growth', async () => {
    const diskId = await world.makeDisk('one');
    const snapshotId = await makeSnapshot(diskId);
    await newSnapshot(diskId);
    const grown = await world.call('PATCH', `/disks/${diskId}`, { size: '20GiB' });
    expect(refusal(grown)).toEqual([409, 'operation_in_progress']);
    const restored = await world.call('POST', `/snapshots/${snapshotId}:restore`);
    expect(refusal(restored)).toEqual([409, 'operation_in_progress']);
    await world.carryOut();
    const tooLarge = await world.call('PATCH', `/disks/${diskId}`, { size: '2TiB' });
    expect(refusal(tooLarge)).toEqual([422, 'out_of_stock']);
    expect((await world.call('PATCH', `/disks/${diskId}`, { size: '20GiB' })).status).toBe(200);
  });

  it('is limited by two quotas', async () => {
    const { sql } = world.api;
    const diskId = await world.makeDisk('one');
    for (const type of ['snapshots', 'snapshot_gib']) {
      const [before] = await sql`update quotas q set max = q.used from quotas o
        where q.project_id = ${world.tenant.projectId} and q.type = ${type}
          and o.project_id = q.project_id and o.type = q.type returning o.max`;
      const reply = await world.call('POST', '/snapshots', { name: 'over', disk_id: diskId });
      expect(refusal(reply)).toEqual([422, 'quota_exceeded']);
      await sql`update quotas set max = ${before?.['max']} where project_id = ${world.tenant.projectId} and type = ${type}`;
    }
  });
});

describe('a disk from a snapshot', () => {
  const copyOf = (snapshot_id: string, body: object = {}) => ({
    ...{ name: `copy-${made++}`, size: '20GiB', location: 'eu-north-a', snapshot_id, ...body },
  });

  it('has its content, depends on nothing, and is metered by its own size', async () => {
    const source = await world.makeDisk('first');
    const snapshotId = await makeSnapshot(source);
    world.write(source, 'later');
    const { id, resourceId } = await world.begin('POST', '/disks', copyOf(snapshotId));
    expect((await read(`/disks/${resourceId}`)).state).toBe('creating');
    const held = await world.call('DELETE', `/snapshots/${snapshotId}`);
    expect(refusal(held)).toEqual([409, 'conflict']);
    await world.carryOut();
    expect(await world.operation(id)).toMatchObject({
      state: 'SUCCEEDED',
      result: { size: '20GiB' },
    });
    expect((await read(`/disks/${resourceId}`)).state).toBe('ready');
    expect(world.contentOf(resourceId)).toBe('first');
    expect(await world.cluster.readVolume({ pool: POOL, name: resourceId })).toMatchObject({
      ...{ parentId: null, sizeBytes: 20 * 2 ** 30, labels: { resource: resourceId } },
    });
    const [meter] = await world.api
      .sql`select units::int from meter_intervals where resource_id = ${resourceId}`;
    expect(meter?.['units']).toBe(20);
    await world.begin('DELETE', `/snapshots/${snapshotId}`);
    await world.carryOut();
    expect(world.contentOf(resourceId)).toBe('first');
  });

  it('is refused if it does not fit the snapshot', async () => {
    const snapshotId = await makeSnapshot(await world.makeDisk('one'));
    for (const [field, body] of [
      ['size', { size: '9GiB' }],
      ['location', { location: 'us-east-a' }],
      ['type', { type: 'shared-volume' }],
      ['block_size', { block_size: 4096 }],
      ['snapshot_id', { snapshot_id: newId() }],
    ] as const) {
      const reply = await world.call('POST', '/disks', copyOf(snapshotId, body));
      expect(badField(reply)).toEqual([400, field]);
    }
    const large = await world.call('POST', '/disks', copyOf(snapshotId, { size: '2TiB' }));
    expect(refusal(large)).toEqual([422, 'out_of_stock']);
  });

  it('fails at its deadline if the cluster cannot copy, and never becomes an empty volume', async () => {
    const source = await world.makeDisk('one');
    const snapshotId = await makeSnapshot(source);
    const { id, resourceId } = await world.begin('POST', '/disks', copyOf(snapshotId));
    await world.cluster.removeSnapshot({ pool: POOL, name: source, snapshot: snapshotId });
    await world.carryOut();
    const {
      log,
      api: { sql },
    } = world;
    await sql`update operations set deadline_at = now() - interval '1 second' where id = ${id}`;
    await endOverdueOperations({ sql, log });
    expect((await world.operation(id)).result).toMatchObject({
      ...{ code: 'storage_failed', message: expect.stringContaining(snapshotId) },
    });
    await world.begin('DELETE', `/snapshots/${snapshotId}`);
    await world.carryOut();
    await world.carryOut();
    expect((await read(`/disks/${resourceId}`)).state).toBe('creating');
    expect(await world.cluster.readVolume({ pool: POOL, name: resourceId })).toBeNull();
  });

  it('whose row is gone when the copy ends is discarded', async () => {
    const snapshotId = await makeSnapshot(await world.makeDisk('one'));
    const { resourceId } = await world.begin('POST', '/disks', copyOf(snapshotId));
    const { sql } = world.api;
    const cluster = world.cluster;
    const slow: StorageCluster = {
      ...cluster,
      copySnapshot: async (copy) => {
        await sql`delete from disks where id = ${resourceId}`;
        await sql`delete from discarded_volumes where disk_id = ${resourceId}`;
        return await cluster.copySnapshot(copy);
      },
    };
    await world.carryOut({ cluster: slow });
    const rows = await sql`select from discarded_volumes where disk_id = ${resourceId}`;
    expect(rows).toHaveLength(1);
  });
});

describe('restoring a snapshot', () => {
  it('brings the content of a detached disk back and keeps its size', async () => {
    const diskId = await world.makeDisk('before');
    const snapshotId = await makeSnapshot(diskId);
    world.write(diskId, 'after');
    const { id, resourceId } = await world.begin('POST', `/snapshots/${snapshotId}:restore`);
    expect(resourceId).toBe(diskId);
    const blocked = await world.call('DELETE', `/disks/${diskId}`);
    expect(refusal(blocked)).toEqual([409, 'operation_in_progress']);
    await world.carryOut();
    expect(await world.operation(id)).toMatchObject({
      ...{ state: 'SUCCEEDED', name: 'RESTORE', resource_type: 'disk', result: { state: 'ready' } },
    });
    expect(world.contentOf(diskId)).toBe('before');
  });

  it('needs a stopped VM, which cannot start before the end', async () => {
    const { sql } = world.api;
    const diskId = await world.makeDisk('before');
    const snapshotId = await makeSnapshot(diskId);
    const vm = await world.begin('POST', '/vms', vmBody({ disks: [{ disk_id: diskId }] }));
    await finishVm(sql, vm.resourceId, 'running');
    const running = await world.call('POST', `/snapshots/${snapshotId}:restore`);
    expect(refusal(running)).toEqual([409, 'conflict']);
    expect(running.body.message).toContain(vm.resourceId);
    await world.begin('PATCH', `/vms/${vm.resourceId}`, { action: 'STOP' });
    await finishVm(sql, vm.resourceId, 'stopped');
    await world.begin('POST', `/snapshots/${snapshotId}:restore`);
    const start = () => world.call('PATCH', `/vms/${vm.resourceId}`, { action: 'START' });
    expect(refusal(await start())).toEqual([409, 'conflict']);
    await world.carryOut();
    expect((await start()).status).toBe(200);
  });

  it('waits for a client that has the volume open, and ends without a change after its operation has ended', async () => {
    const {
      log,
      api: { sql },
    } = world;
    const diskId = await world.makeDisk('before');
    const snapshotId = await makeSnapshot(diskId);
    const client = world.cluster.open({ pool: POOL, name: diskId, address: '10.0.0.8:0/4' });
    client.write('after');
    const { id } = await world.begin('POST', `/snapshots/${snapshotId}:restore`);
    await world.carryOut();
    expect((await world.operation(id)).state).toBe('IN_PROGRESS');
    await sql`update operations set deadline_at = now() - interval '1 second' where id = ${id}`;
    await endOverdueOperations({ sql, log });
    expect((await world.operation(id)).state).toBe('FAILED');
    await world.carryOut();
    client.close();
    await world.carryOut();
    expect(world.contentOf(diskId)).toBe('after');
    expect((await world.call('DELETE', `/disks/${diskId}`)).status).toBe(200);
  });

  it('goes on after its operation has ended if an interrupted attempt has changed a part of the volume', async () => {
    const {
      log,
      api: { sql },
    } = world;
    const diskId = await world.makeDisk('before');
    const snapshotId = await makeSnapshot(diskId);
    world.write(diskId, 'after');
    const { id } = await world.begin('POST', `/snapshots/${snapshotId}:restore`);
    await sql`update operations set deadline_at = now() - interval '1 second' where id = ${id}`;
    await endOverdueOperations({ sql, log });
    for (const code of ['busy', 'failed'] as const) {
      // The client of a scheduler that was killed in the middle of it is still known to the cluster.
      const cluster: StorageCluster = {
        ...world.cluster,
        restoreSnapshot: async () => {
          throw new StorageError(code, 'a client has it open');
        },
        async readVolume(at) {
          const volume = await world.cluster.readVolume(at);
          return volume && { ...volume, isRestoring: true };
        },
      };
      await world.carryOut({ cluster });
    }
    const early = await world.call('POST', '/snapshots', { name: 'mixed', disk_id: diskId });
    expect(refusal(early)).toEqual([409, 'conflict']);
    await world.carryOut();
    expect(world.contentOf(diskId)).toBe('before');
    expect((await world.call('DELETE', `/disks/${diskId}`)).status).toBe(200);
  });

  it('is refused if the disk was deleted or the snapshot is not ready', async () => {
    const { sql } = world.api;
    const diskId = await world.makeDisk('one');
    const { resourceId } = await newSnapshot(diskId);
    await sql`update snapshots set observed_state = 'failed' where id = ${resourceId}`;
    await sql`update operations set state = 'FAILED', completed_at = now() where resource_id = ${resourceId}`;
    const failed = await world.call('POST', `/snapshots/${resourceId}:restore`);
    expect(refusal(failed)).toEqual([409, 'conflict']);
    await sql`update snapshots set observed_state = 'ready' where id = ${resourceId}`;
    await sql`delete from disks where id = ${diskId}`;
    const gone = await world.call('POST', `/snapshots/${resourceId}:restore`);
    expect(refusal(gone)).toEqual([409, 'conflict']);
    expect(gone.body.message).toContain('create a disk from the snapshot');
  });
});
