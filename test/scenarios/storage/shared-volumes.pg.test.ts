import { GIB } from '@gantry/daemon/units';
import type { HandDrivenHost } from '@gantry/testkit/hosts/hand-driven-host';
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

const shareName = (name: string) => ({ fileSystem: 'shares', installation: cloud.clusterId, name });
const share = (diskId: string) => cloud.cluster.readShare(shareName(diskId));
const host = async (vmId: string) => {
  const hostId = await cloud.hostOf(vmId);
  const found = hosts.find(({ id }) => id === hostId);
  if (!found) throw new Error(`the VM is on ${hostId}`);
  return found;
};
const createDisk = async () => {
  const { id, operationId } = await cloud.requestDisk('shared-volume');
  await cloud.settleVolumes();
  expect(await cloud.operation(operationId)).toMatchObject({ state: 'SUCCEEDED' });
  return id;
};
/** Creates a VM that has the disk from the beginning, not on this host. */
const runVm = async (diskId: string, notOn?: HandDrivenHost) => {
  const { id, operationId } = await cloud.createVm({ disks: [{ disk_id: diskId }] });
  await cloud.settleVolumes();
  const cordon = (state: string) =>
    cloud.sql`update hosts set admin_state = ${state} where id = ${notOn?.id ?? null}`;
  await cordon('cordoned');
  await cloud.placeVms();
  await cordon('active');
  await (await host(id)).obey();
  expect(await cloud.operation(operationId)).toMatchObject({ state: 'SUCCEEDED' });
  return id;
};
const shareIn = async (vmId: string, diskId: string) => {
  const spec = (await (await host(vmId)).spec()).vms?.find(({ id }) => id === vmId);
  return { needs: spec?.needs, disk: spec?.disks?.find(({ id }) => id === diskId) };
};
const call = async (method: string, path: string, body?: object) =>
  await cloud.call(method, path, body);

describe('a shared volume in a pool', () => {
  it('is a directory with the size of the disk, and every host gets a key of its own', async () => {
    const diskId = await createDisk();
    const path = `/gantry/${cloud.clusterId}/${diskId}/data`;
    expect(await share(diskId)).toMatchObject({ path, pool: 'shares' });
    expect((await call('GET', `/disks/${diskId}`)).body).toMatchObject({ storage: 'network' });
    const first = await runVm(diskId);
    const second = await runVm(diskId, await host(first));
    expect(await cloud.hostOf(second)).not.toBe(await cloud.hostOf(first));
    const users: string[] = [];
    for (const vmId of [first, second]) {
      const { needs, disk } = await shareIn(vmId, diskId);
      expect(needs).toEqual(['rbd', 'cephfs']);
      expect(disk).toMatchObject({
        ...{ kind: 'DISK_KIND_SHARED_VOLUME', exists: true },
        cephfs: { fileSystem: 'shares', pool: 'shares', path },
      });
      expect(disk).not.toHaveProperty('rbd');
      users.push(disk?.cephfs?.user ?? '');
    }
    expect(new Set(users).size).toBe(2);
    expect(await cloud.cluster.listKeys(`gantry-${diskId}`)).toEqual(expect.arrayContaining(users));
  });

  it('grows by the control plane while VMs have it', async () => {
    const diskId = await createDisk();
    const vmId = await runVm(diskId);
    const before = (await share(diskId))?.sizeBytes ?? 0;
    const sizeGib = before / GIB + 10;
    const grown = await cloud.request('PATCH', `/disks/${diskId}`, { size: `${sizeGib}GiB` });
    await expect.poll(async () => (await share(diskId))?.sizeBytes).toBe(sizeGib * GIB);
    const ended = async () => {
      await cloud.settleWithoutHost();
      return await cloud.operation(grown.operationId);
    };
    await expect.poll(ended).toMatchObject({ state: 'SUCCEEDED' });
    await (await host(vmId)).obey();
    expect((await call('GET', `/disks/${diskId}`)).body).toMatchObject({ state: 'ready' });
  });

  it('loses its keys with its VMs, and its directory with the disk, when no client has it', async () => {
    const diskId = await createDisk();
    const vmId = await runVm(diskId);
    const { disk } = await shareIn(vmId, diskId);
    const on = await host(vmId);
    const client = cloud.cluster.mount({ ...shareName(diskId), address: '10.9.1.9:0/2' });
    await cloud.request('DELETE', `/vms/${vmId}`);
    await on.obey();
    await cloud.settleVolumes();
    expect(await cloud.cluster.listKeys(`gantry-${diskId}`)).not.toContain(disk?.cephfs?.user);
    await cloud.request('DELETE', `/disks/${diskId}`);
    const problem = async () =>
      (await cloud.sql`select problem from discarded_volumes where disk_id = ${diskId}`)[0];
    await cloud.settleWithoutHost();
    await expect.poll(problem).toMatchObject({ problem: expect.stringContaining('mounted') });
    client.close();
    await cloud.settleVolumes();
    expect(await share(diskId)).toBeNull();
    expect(await cloud.cluster.listKeys(`gantry-${diskId}`)).toEqual([]);
  });

  it('without a disk is reported and left alone, as is a disk without its directory', async () => {
    const { fileSystem, installation } = shareName('');
    const stray = { fileSystem, installation, name: 'stray', pool: 'shares', sizeBytes: GIB };
    await cloud.cluster.createShare(stray);
    const lost = await createDisk();
    await cloud.cluster.removeShare(shareName(lost));
    const problem = async () =>
      (await cloud.sql`select problem from storage_pools where name = 'shares'`)[0]?.['problem'];
    await expect.poll(problem).toMatch(/1 volumes without a disk \(stray\)/);
    await expect.poll(problem).toContain(`disks without a volume (${lost})`);
    expect(await cloud.cluster.readShare(stray)).not.toBeNull();
  });

  it('has no snapshots and no backups', async () => {
    const diskId = await createDisk();
    const body = { name: 's', disk_id: diskId };
    for (const [path, refused] of [
      ['/snapshots', await call('POST', '/snapshots', body)],
      ['/backups', await call('POST', '/backups', body)],
    ] as const) {
      expect([path, refused.status, refused.body.code]).toEqual([path, 409, 'conflict']);
      expect(refused.body.message).toContain('shared volume');
    }
  });
});
