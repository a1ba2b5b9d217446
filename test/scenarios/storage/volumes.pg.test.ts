import { GIB } from '@gantry/daemon/units';
import type { HandDrivenHost } from '@gantry/testkit/hosts/hand-driven-host';
import { newName } from '@gantry/testkit/make/request-bodies';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type PoolCloud, startPoolCloud } from './pool-cloud.ts';

let cloud: PoolCloud;
let hosts: HandDrivenHost[];

beforeAll(async () => {
  cloud = await startPoolCloud();
  hosts = [await cloud.addStorageHost(), await cloud.addStorageHost()];
  cloud.startVolumes();
});
afterAll(() => cloud.stop());

const host = async (vmId: string) => {
  const hostId = await cloud.hostOf(vmId);
  const found = hosts.find(({ id }) => id === hostId);
  if (!found) throw new Error(`the VM is on ${hostId}`);
  return found;
};
const osDiskOf = async (vmId: string) => {
  const [row] = await cloud.sql<{ disk_id: string }[]>`
    select disk_id from disk_attachments where vm_id = ${vmId} and attachment_type = 'os'`;
  return row?.disk_id ?? '';
};
const runVm = async (fields = {}) => {
  const { id, operationId } = await cloud.createVm(fields);
  await cloud.settleVolumes();
  await cloud.placeVms();
  await (await host(id)).obey();
  expect(await cloud.operation(operationId)).toMatchObject({ state: 'SUCCEEDED' });
  return id;
};
const volume = (diskId: string) => cloud.cluster.readVolume({ pool: 'volumes', name: diskId });
const specOf = async (vmId: string) =>
  (await (await host(vmId)).spec()).vms?.find(({ id }) => id === vmId);
const createDisk = async () => {
  const { id, operationId } = await cloud.requestDisk();
  await cloud.settleVolumes();
  expect(await cloud.operation(operationId)).toMatchObject({ state: 'SUCCEEDED' });
  return id;
};
const attach = (vmId: string, diskId: string) =>
  cloud.request('POST', `/vms/${vmId}/attach-disks`, {
    attach_disks: [{ disk_id: diskId, mode: 'read-write', attachment_type: 'data' }],
  });
const meters = (id: string) =>
  cloud.sql`select units::int, ended_at from meter_intervals where resource_id = ${id} order by started_at, id`;
const power = async (vmId: string, action: 'STOP' | 'START') =>
  await cloud.request('PATCH', `/vms/${vmId}`, { action });

describe('the OS disk of a VM in a pool', () => {
  it('is a clone of the image, and its host gets the volume with a key of its own', async () => {
    const vmId = await runVm();
    const diskId = await osDiskOf(vmId);
    const found = await volume(diskId);
    expect(found).toMatchObject({
      sizeBytes: 128 * GIB,
      labels: { installation: cloud.clusterId, resource: diskId },
      parentId: expect.any(String),
    });
    const spec = await specOf(vmId);
    expect(spec).toMatchObject({
      needs: ['rbd'],
      disks: [{ id: diskId, exists: true, rbd: { pool: 'volumes', image: diskId } }],
    });
    expect(spec).not.toHaveProperty('image');
    const user = spec?.disks?.[0]?.rbd?.user ?? '';
    expect(await cloud.cluster.listKeys(`gantry-${diskId}`)).toContain(user);
    expect(await cloud.sql`select host_id from disks where id = ${diskId}`).toMatchObject([
      { host_id: null },
    ]);
  });

  it('follows the VM to another host after a STOP, with another key, and is removed with the VM', async () => {
    const vmId = await runVm();
    const diskId = await osDiskOf(vmId);
    const first = await host(vmId);
    const before = (await specOf(vmId))?.disks?.[0]?.rbd?.user ?? '';
    const kept = await volume(diskId);
    await power(vmId, 'STOP');
    const report = await first.obey();
    expect(report.deletedDisks).toEqual([]);
    expect(await cloud.vmState(vmId)).toBe('STATE_SHUTOFF');
    await cloud.settleVolumes();
    expect(await cloud.cluster.listKeys(`gantry-${diskId}`)).not.toContain(before);
    await cloud.sql`update hosts set admin_state = 'cordoned' where id = ${first.id}`;
    await power(vmId, 'START');
    await cloud.placeVms();
    const second = await host(vmId);
    expect(second.id).not.toBe(first.id);
    await second.obey();
    expect(await cloud.vmState(vmId)).toBe('STATE_RUNNING');
    expect(await volume(diskId)).toEqual(kept);
    await cloud.sql`update hosts set admin_state = 'active' where id = ${first.id}`;
    await cloud.request('DELETE', `/vms/${vmId}`);
    await second.obey();
    expect(await cloud.vmState(vmId)).toBe('gone');
    await cloud.settleVolumes();
    expect(await volume(diskId)).toBeNull();
    expect(await cloud.cluster.listKeys(`gantry-${diskId}`)).toEqual([]);
  });

  it('keeps the VM from hosts that do not reach the storage, or share an address there', async () => {
    const { sql } = cloud;
    const addresses = hosts.map(({ id }) => id);
    await sql`update hosts set storage_address = '10.9.9.9' where id = any(${addresses}::uuid[])`;
    const { id, operationId } = await cloud.createVm();
    await cloud.settleVolumes();
    await cloud.placeVms();
    expect(await cloud.operation(operationId)).toMatchObject({
      state: 'FAILED',
      result: {
        details: { filters: expect.arrayContaining([{ filter: 'storage_network', left: 0 }]) },
      },
    });
    await cloud.settleWithoutHost();
    await cloud.settleVolumes();
    expect(await cloud.vmState(id)).toBe('gone');
    for (const [i, hostId] of addresses.entries())
      await sql`update hosts set storage_address = ${`10.9.2.${i + 1}`} where id = ${hostId}`;
  });

  it('is not placed before its volume exists', async () => {
    cloud.cluster.setNetwork('down');
    const { id } = await cloud.createVm();
    await cloud.placeVms();
    expect(await cloud.hostOf(id)).toBeUndefined();
    cloud.cluster.setNetwork('up');
    await cloud.settleVolumes();
    await cloud.placeVms();
    await (await host(id)).obey();
    expect(await cloud.vmState(id)).toBe('STATE_RUNNING');
  });
});

describe('a data disk in a pool', () => {
  it('exists when its volume does, and is metered from then on', async () => {
    cloud.cluster.setNetwork('down');
    const { id, operationId } = await cloud.requestDisk();
    await cloud.settleWithoutHost();
    expect(await cloud.operation(operationId)).toMatchObject({ state: 'IN_PROGRESS' });
    expect(await meters(id)).toEqual([]);
    cloud.cluster.setNetwork('up');
    await cloud.settleVolumes();
    expect(await cloud.operation(operationId)).toMatchObject({ state: 'SUCCEEDED' });
    expect(await meters(id)).toMatchObject([{ units: 10, ended_at: null }]);
    expect(await volume(id)).toMatchObject({ sizeBytes: 10 * GIB });
  });

  it('is attached to a running VM, detached, and attached to a VM on another host', async () => {
    const [one, two] = [await runVm(), await runVm()];
    const diskId = await createDisk();
    for (const vmId of [one, two]) {
      const { operationId } = await attach(vmId, diskId);
      expect((await specOf(vmId))?.disks?.[1]).toMatchObject({
        id: diskId,
        rbd: { image: diskId },
      });
      await (await host(vmId)).obey();
      expect(await cloud.operation(operationId)).toMatchObject({ state: 'SUCCEEDED' });
      const detached = await cloud.request('POST', `/vms/${vmId}/detach-disks`, {
        detach_disks: [diskId],
      });
      await (await host(vmId)).obey();
      expect(await cloud.operation(detached.operationId)).toMatchObject({ state: 'SUCCEEDED' });
      await cloud.settleVolumes();
    }
    expect(await volume(diskId)).not.toBeNull();
  });

  it('is left out of the spec until its host has a key of it', async () => {
    const vmId = await runVm();
    const diskId = await createDisk();
    await cloud.sql`update volume_keys set revoked = true where disk_id = ${diskId}`;
    cloud.cluster.setNetwork('down');
    const { operationId } = await attach(vmId, diskId);
    expect((await specOf(vmId))?.disks).toHaveLength(1);
    await (await host(vmId)).obey();
    expect(await cloud.operation(operationId)).toMatchObject({ state: 'IN_PROGRESS' });
    cloud.cluster.setNetwork('up');
    await cloud.settleVolumes();
    await (await host(vmId)).obey();
    expect(await cloud.operation(operationId)).toMatchObject({ state: 'SUCCEEDED' });
  });

  it('is grown by the scheduler while no placed VM has it, and else by the host', async () => {
    const diskId = await createDisk();
    const alone = await cloud.request('PATCH', `/disks/${diskId}`, { size: '20GiB' });
    await cloud.settleVolumes();
    expect(await cloud.operation(alone.operationId)).toMatchObject({ state: 'SUCCEEDED' });
    expect(await volume(diskId)).toMatchObject({ sizeBytes: 20 * GIB });
    const vmId = await runVm();
    await attach(vmId, diskId);
    await (await host(vmId)).obey();
    const grown = await cloud.request('PATCH', `/disks/${diskId}`, { size: '30GiB' });
    await (await host(vmId)).obey();
    await cloud.settleWithoutHost();
    expect(await cloud.operation(grown.operationId)).toMatchObject({ state: 'SUCCEEDED' });
    expect(await volume(diskId)).toMatchObject({ sizeBytes: 20 * GIB });
    expect(await meters(diskId)).toMatchObject([{ units: 10 }, { units: 20 }, { units: 30 }]);
  });

  it('is deleted with its volume and its keys', async () => {
    const diskId = await createDisk();
    const { operationId } = await cloud.request('DELETE', `/disks/${diskId}`);
    await cloud.settleWithoutHost();
    expect(await cloud.operation(operationId)).toMatchObject({ state: 'SUCCEEDED' });
    await cloud.settleVolumes();
    expect(await volume(diskId)).toBeNull();
    expect(await cloud.cluster.listKeys(`gantry-${diskId}`)).toEqual([]);
  });

  it('is created with a VM, which waits for its volume, and is removed if the VM cannot be created', async () => {
    const disks = [{ name: newName(), size: '5GiB', type: 'persistent-ssd', mode: 'read-write' }];
    const vmId = await runVm({ disks });
    expect((await specOf(vmId))?.disks).toHaveLength(2);
    await cloud.sql`update hosts set admin_state = 'cordoned'`;
    const failed = await cloud.createVm({
      disks: [{ name: newName(), size: '5GiB', type: 'persistent-ssd', mode: 'read-write' }],
    });
    await cloud.settleVolumes();
    await cloud.placeVms();
    await cloud.settleWithoutHost();
    await cloud.settleWithoutHost();
    await cloud.sql`update hosts set admin_state = 'active'`;
    expect(await cloud.vmState(failed.id)).toBe('gone');
    await cloud.settleVolumes();
    const left = await cloud.sql<
      { id: string }[]
    >`select id::text from disks where pool_id is not null`;
    const names = await cloud.cluster.listVolumes('volumes');
    expect(names.filter((name) => !name.startsWith('image-')).sort()).toEqual(
      left.map(({ id }) => id).sort(),
    );
  });
});

describe('a pool that encrypts', () => {
  it('gives each VM a copy of the image, which only its host gets the passphrase of', async () => {
    await cloud.sql`update storage_pools set encrypted = true`;
    const vmId = await runVm();
    const diskId = await osDiskOf(vmId);
    expect(await volume(diskId)).toMatchObject({ encrypted: true, parentId: null });
    const spec = await specOf(vmId);
    expect(spec).toMatchObject({ needs: ['rbd', 'luks'], disks: [{ id: diskId }] });
    const passphrase = spec?.disks?.[0]?.rbd?.passphrase ?? '';
    expect(passphrase).not.toBe('');
    expect(await cloud.sql`select sealed_passphrase from volume_passphrases`).toEqual([
      { sealed_passphrase: passphrase },
    ]);
    expect(cloud.cluster.readContent({ pool: 'volumes', name: diskId })).toBe('encrypted');
    const { id: hostId } = await host(vmId);
    const other = hosts.find(({ id }) => id !== hostId);
    expect(JSON.stringify(await other?.spec())).not.toContain(passphrase);
    const dataId = await createDisk();
    await attach(vmId, dataId);
    expect((await specOf(vmId))?.disks).toHaveLength(2);
    // Without its passphrase, a host would see nothing but encrypted data, and could overwrite it.
    await cloud.sql`delete from volume_passphrases where disk_id = ${dataId}`;
    expect((await specOf(vmId))?.disks).toHaveLength(1);
  });
});
