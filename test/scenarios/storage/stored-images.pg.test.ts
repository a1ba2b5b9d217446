import { channelCredentials } from '@gantry/agent/identity/identity';
import { grpcTransfers } from '@gantry/agent/link/image-transfers';
import { newId } from '@gantry/model/ids';
import { loadFleet } from '@gantry/proto/load';
import { badField, refusal } from '@gantry/testkit/api/read-errors';
import { LOCATION } from '@gantry/testkit/make/request-bodies';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type ImageStoreCloud, POLL, startImageStoreCloud } from './image-store-cloud.ts';

/** Images of projects in a location without network storage, from the request to a VM on a host. */
let world: ImageStoreCloud;
let cloud: ImageStoreCloud['cloud'];
let made = 0;
const fleet = loadFleet();

beforeAll(async () => {
  world = await startImageStoreCloud();
  ({ cloud } = world);
});
afterAll(() => world?.stop());
afterEach(() => {
  for (const { driver } of [world.first, world.second]) driver.faults.clear();
  cloud.api.deps.hasImageStore = true;
});

const read = async (path: string) => (await cloud.call('GET', path)).body;
const hostOf = async (vmId: string) => {
  const [row] = await cloud.sql`select host_id from placements where vm_id = ${vmId}`;
  return row?.['host_id'] === world.first.id ? world.first : world.second;
};
const osDiskOf = async (vmId: string): Promise<string> => (await read(`/vms/${vmId}`)).disks[0].id;
/** What the OS disk of a VM has on its host. */
const systemOf = async (vmId: string) =>
  (await hostOf(vmId)).driver.disks.content(await osDiskOf(vmId));
const deleteVm = (vmId: string) => world.succeed(cloud.request('DELETE', `/vms/${vmId}`));
const overdue = (operationId: string) =>
  cloud.sql`update operations set deadline_at = now() - interval '1 second' where id = ${operationId}`;

/** What the agent of a host could ask schedulers for. */
const transfersOf = (host: typeof world.first) =>
  grpcTransfers({
    fleet,
    address: () => `localhost:${cloud.schedulers[0]?.port}`,
    credentials: () => channelCredentials(host.identity),
  });

/** Makes a snapshot of the OS disk of a new VM, which has this content, and removes the VM. */
async function makeSnapshot(content: string): Promise<{ id: string; host: typeof world.first }> {
  const vmId = await world.succeed(cloud.createVm());
  const [host, diskId] = [await hostOf(vmId), await osDiskOf(vmId)];
  host.driver.disks.write(diskId, content);
  const body = { name: `s-${made++}`, disk_id: diskId };
  const id = await world.succeed(cloud.request('POST', '/snapshots', body));
  await deleteVm(vmId);
  return { id, host };
}
const newImage = (snapshot_id: string, name = `image-${made++}`) =>
  cloud.request('POST', '/images', { name, snapshot_id });

describe('an image of an uploaded file', () => {
  it('becomes the OS disk of VMs, and its content is removed after the last of them', async () => {
    const { id, state } = await world.uploadImage('golden');
    expect(state).toBe('SUCCEEDED');
    expect(await read(`/images/${id}`)).toMatchObject({ state: 'ready', locations: [LOCATION] });
    expect(await world.filesOf(id)).toEqual([expect.stringMatching(/^[0-9a-f]{64}\.qcow2$/)]);
    const vmId = await world.succeed(cloud.createVm({ image: 'golden' }));
    expect(await systemOf(vmId)).toBe('golden');
    await world.succeed(cloud.request('DELETE', `/images/${id}`));
    expect((await cloud.call('GET', `/images/${id}`)).status).toBe(404);
    await world.succeed(cloud.request('PATCH', `/vms/${vmId}`, { action: 'STOP' }));
    await world.succeed(cloud.request('PATCH', `/vms/${vmId}`, { action: 'START' }));
    expect(await systemOf(vmId)).toBe('golden');
    expect(await world.filesOf(id)).toHaveLength(1);
    await deleteVm(vmId);
    await expect.poll(() => world.filesOf(id), POLL).toEqual([]);
    await expect
      .poll(() => cloud.sql`select from custom_images where id = ${id}`, POLL)
      .toEqual([]);
  });

  it('stays with hosts when the location gets network storage for other disks', async () => {
    const { id } = await world.uploadImage('stays-local');
    const [clusterId, poolId] = [newId(), newId()];
    await cloud.sql`insert into storage_clusters (id, name, monitors, user_name)
      values (${clusterId}, 'ceph', '{10.0.0.1:3300}', 'gantry')`;
    await cloud.sql`insert into storage_pools (id, cluster_id, name, location, disk_type, size_gib)
      values (${poolId}, ${clusterId}, 'volumes', ${LOCATION}, 'persistent-ssd', 1000)`;
    try {
      const [chosen] = await cloud.sql`select choose_os_pool(${newId()}, ${LOCATION}, 128) as pool`;
      expect(chosen?.['pool']).toBe(poolId);
      const vmId = await world.succeed(cloud.createVm({ image: id }));
      expect(await systemOf(vmId)).toBe('stays-local');
      await deleteVm(vmId);
    } finally {
      await cloud.sql`delete from storage_pools where id = ${poolId}`;
      await cloud.sql`delete from storage_clusters where id = ${clusterId}`;
    }
  });

  it('that was deleted is fetched by the host that was ordered to create a VM from it, and by no other', async () => {
    const { id } = await world.uploadImage('deleted-early');
    for (const { driver } of [world.first, world.second]) driver.faults.hang('create_disk');
    const requested = await cloud.createVm({ image: id });
    const hanging = () =>
      world.first.driver.faults.hangingIn('create_disk') +
      world.second.driver.faults.hangingIn('create_disk');
    await expect.poll(hanging, POLL).toBe(1);
    await world.succeed(cloud.request('DELETE', `/images/${id}`));
    const other = (await hostOf(requested.id)) === world.first ? world.second : world.first;
    await expect(transfersOf(other).open(id)).rejects.toThrow('no scheduler knows it');
    for (const { driver } of [world.first, world.second]) driver.faults.unhang('create_disk');
    const vmId = await world.succeed(requested);
    expect(await systemOf(vmId)).toBe('deleted-early');
    await deleteVm(vmId);
  });
});

describe('an image of a snapshot that a host stores', () => {
  it('is sent by this host and becomes a VM on another one, without the snapshot', async () => {
    // The first host has one GPU, which this VM has.
    const taken = await world.succeed(cloud.createVm());
    const snapshot = await makeSnapshot('my system');
    const imageId = await world.succeed(newImage(snapshot.id, 'mine'));
    expect(await read(`/images/${imageId}`)).toMatchObject({ state: 'ready', size: '128GiB' });
    // What the host has sent is removed after the image is ready.
    await expect.poll(() => world.filesOf(imageId), POLL).toHaveLength(1);
    await world.succeed(cloud.request('DELETE', `/snapshots/${snapshot.id}`));
    await deleteVm(taken);
    const vms = [];
    for (let index = 0; index < 2; index += 1)
      vms.push(await world.succeed(cloud.createVm({ image: 'mine' })));
    for (const vmId of vms) expect(await systemOf(vmId)).toBe('my system');
    const hosts = new Set(await Promise.all(vms.map(hostOf)));
    expect(hosts).toEqual(new Set([world.first, world.second]));
    for (const vmId of vms) await deleteVm(vmId);
  });

  it('keeps its snapshot, is completed after the agent was killed, and is counted and metered', async () => {
    const snapshot = await makeSnapshot('resumed');
    const { faults } = snapshot.host.driver;
    faults.hang('read_snapshot');
    const requested = await newImage(snapshot.id);
    await expect.poll(() => faults.hangingIn('read_snapshot'), POLL).toBe(1);
    expect((await read(`/images/${requested.id}`)).state).toBe('creating');
    expect(refusal(await cloud.call('DELETE', `/snapshots/${snapshot.id}`))).toEqual([
      409,
      'conflict',
    ]);
    snapshot.host.kill();
    faults.clear();
    await snapshot.host.start();
    const imageId = await world.succeed(requested);
    const metered = await cloud.sql`select resource_type, units::int from meter_intervals
      where resource_id = ${imageId}`;
    expect(metered).toMatchObject([{ resource_type: 'image', units: 128 }]);
    expect((await snapshotOrders(imageId)).length).toBe(0);
  });

  it('fails with the reason of its host, and leaves nothing in the store or in the spec', async () => {
    const snapshot = await makeSnapshot('lost');
    snapshot.host.driver.disks.snapshots.delete(snapshot.id);
    const { id, state, result } = await world.ended(newImage(snapshot.id));
    expect({ state, result }).toMatchObject({
      ...{ state: 'FAILED', result: { code: 'storage_failed' } },
    });
    expect(await read(`/images/${id}`)).toMatchObject({ state: 'failed' });
    expect(await snapshotOrders(id)).toEqual([]);
    expect(await world.filesOf(id)).toEqual([]);
    await world.succeed(cloud.request('DELETE', `/images/${id}`));
  });

  it('waits for a host that is away until its deadline, and fails at once if the host is dead', async () => {
    const snapshot = await makeSnapshot('away');
    snapshot.host.driver.faults.hang('read_snapshot');
    const late = await newImage(snapshot.id);
    await overdue(late.operationId);
    expect(await world.ended(late)).toMatchObject({
      ...{ state: 'FAILED', result: { code: 'storage_failed' } },
    });
    expect(await snapshotOrders(late.id)).toEqual([]);
    const waiting = await newImage(snapshot.id);
    const dead = await cloud.addHandDrivenHost();
    await cloud.sql`update hosts set fenced_at = now() where id = ${dead.id}`;
    await cloud.sql`update custom_images set host_id = ${dead.id} where id = ${waiting.id}`;
    expect(await world.ended(waiting)).toMatchObject({
      ...{ state: 'FAILED', result: { message: expect.stringContaining('declared dead') } },
    });
  });

  it('is refused without a store and with an old agent, with what an operator has to do', async () => {
    const snapshot = await makeSnapshot('refused');
    const ofSnapshot = { name: 'refused', snapshot_id: snapshot.id };
    const ofFile = { ...{ name: 'refused', location: LOCATION, size: '1GiB', format: 'raw' } };
    const file = { ...ofFile, sha256: '0'.repeat(64), upload_bytes: 512 };
    cloud.api.deps.hasImageStore = false;
    for (const [field, body] of [
      ['snapshot_id', ofSnapshot],
      ['location', file],
    ] as const) {
      const reply = await cloud.call('POST', '/images', body);
      expect(badField(reply)).toEqual([400, field]);
      expect(reply.body.message).toContain('GANTRY_IMAGE_STORE_DIRECTORY');
    }
    cloud.api.deps.hasImageStore = true;
    const { sql } = cloud;
    const [before] = await sql`select inventory from hosts where id = ${snapshot.host.id}`;
    await sql`update hosts set inventory = '{"software":{"capabilities":["local_snapshots"]}}'
      where id = ${snapshot.host.id}`;
    const old = await cloud.call('POST', '/images', ofSnapshot);
    expect(refusal(old)).toEqual([409, 'conflict']);
    expect(old.body.message).toContain('too old');
    await sql`update hosts set inventory = ${sql.json(before?.['inventory'])} where id = ${snapshot.host.id}`;
  });
});

describe('a host', () => {
  it('can neither fetch an image that its spec does not name nor send one that it was not asked for', async () => {
    const { id } = await world.uploadImage('private');
    const vmId = await world.succeed(cloud.createVm({ image: id }));
    // Also the host of a VM whose disk exists has no need of the image any more.
    for (const host of [world.first, world.second])
      await expect(transfersOf(host).open(id)).rejects.toThrow('no scheduler knows it');
    const snapshot = await makeSnapshot('wanted');
    snapshot.host.driver.faults.hang('read_snapshot');
    const requested = await newImage(snapshot.id);
    const other = snapshot.host === world.first ? world.second : world.first;
    const forged = { sizeBytes: 512, data: (async function* () {})() };
    const { signal } = new AbortController();
    await expect(transfersOf(other).send(requested.id, forged, signal)).rejects.toThrow(
      'no scheduler',
    );
    expect((await read(`/images/${requested.id}`)).state).toBe('creating');
    expect(await world.filesOf(requested.id)).toEqual([]);
    snapshot.host.driver.faults.unhang('read_snapshot');
    await world.succeed(requested);
    await deleteVm(vmId);
  });
});

/** The orders to send this image that are in specs. */
async function snapshotOrders(imageId: string): Promise<unknown[]> {
  const rows = await cloud.sql`select host_id from custom_images
    where id = ${imageId} and host_id is not null`;
  return [...rows];
}
