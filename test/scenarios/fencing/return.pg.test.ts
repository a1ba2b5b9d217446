import { fenceHosts } from '@gantry/scheduler/fencing/fence-hosts';
import { liftFences, renewFences } from '@gantry/scheduler/fencing/lift-fences';
import { type Cloud, startCloud } from '@gantry/testkit/cloud/start-cloud';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Killed, killedAt } from './killed-cluster.ts';
import { macOf, VolumeWorld } from './volume-world.ts';

let cloud: Cloud;
let world: VolumeWorld;
beforeAll(async () => {
  cloud = await startCloud();
  world = new VolumeWorld(cloud);
  await world.begin();
});
afterAll(() => cloud.stop());

const locations = ['eu-north-a'];
const lift = () => liftFences({ ...cloud, clusters: world.clusters, locations });
/** A host with a VM that was fenced. */
const fenced = async () => {
  const host = await world.addHost();
  const vm = await world.runVm(host);
  await world.declareDead(host);
  await fenceHosts({ ...cloud, clusters: world.clusters });
  return { host, vm };
};
const isBlocked = async (address: string) => (await world.cluster.listFences()).includes(address);

describe('the server of a fenced host', () => {
  it('is refused by the cluster until it has reported as a new host that none of its VMs runs', async () => {
    const { host, vm } = await fenced();
    await lift();
    expect(await isBlocked(host.address)).toBe(true);
    const back = await world.addHost(host.address);
    await lift();
    expect(await isBlocked(host.address)).toBe(true);
    // Its QEMU of before the fence still runs.
    await cloud.sql`update hosts set accepted_number = 1, unknown_vms = ${[vm.vmId]} where id = ${back.id}`;
    await lift();
    expect(await isBlocked(host.address)).toBe(true);
    await back.obey();
    await lift();
    expect(await isBlocked(host.address)).toBe(false);
    expect(await world.fenceRows(host)).toEqual([]);
    expect(() => vm.client.write('late')).toThrow('fenced');
  });

  it('stays fenced if another scheduler has fenced it again while its first fence was lifted', async () => {
    const { host } = await fenced();
    const back = await world.addHost(host.address);
    await back.obey();
    const late = async () => ({
      ...world.cluster,
      async unfence(addresses: readonly string[]) {
        await cloud.sql`insert into storage_fences (cluster_id, host_id, addresses, effective_at)
          values (${world.clusterId}, ${back.id}, ${[...addresses]}, now())`;
        await world.cluster.unfence(addresses);
      },
    });
    await liftFences({ ...cloud, clusters: late, locations });
    expect(await isBlocked(host.address)).toBe(true);
    expect(await world.fenceRows(host)).toEqual([]);
    expect(await world.fenceRows(back)).toHaveLength(1);
  });

  it('is not taken for another server with the same address', async () => {
    const { host } = await fenced();
    const other = await world.addHost(host.address);
    await cloud.sql`update hosts set inventory = ${{ nics: [{ mac: macOf('10.99.9.9') }] } as never}
      where id = ${other.id}`;
    await other.obey();
    await lift();
    expect(await isBlocked(host.address)).toBe(true);
    // The operator knows that the server was scrapped.
    const { name } = await world.hostView(host);
    const call = (verb: string, body: object) =>
      cloud.api.call('POST', `/admin/hosts/${host.id}:${verb}`, { bearer: cloud.operator, body });
    const remove = () =>
      cloud.api.call('DELETE', `/admin/hosts/${host.id}`, { bearer: cloud.operator });
    expect(await remove()).toMatchObject({ status: 409, body: { code: 'conflict' } });
    expect(await call('lift-storage-fence', { confirm: 'x' })).toMatchObject({ status: 400 });
    expect(await call('lift-storage-fence', { confirm: name })).toMatchObject({ status: 200 });
    await lift();
    expect(await isBlocked(host.address)).toBe(false);
    expect(await remove()).toMatchObject({ status: 200 });
  });

  it('stays fenced while the cluster does not reply, and is released after a kill between any two steps', async () => {
    for (const when of ['before', 'after'] as const) {
      const { host } = await fenced();
      await (await world.addHost(host.address)).obey();
      world.cluster.setNetwork('down');
      await lift();
      world.cluster.setNetwork('up');
      expect(await world.fenceRows(host)).toMatchObject([{ liftable: true }]);
      const { cluster } = killedAt(world.cluster, { call: 1, when });
      const killed = liftFences({ ...cloud, clusters: async () => cluster, locations });
      await expect(killed).rejects.toThrow(Killed);
      expect(await world.fenceRows(host)).toMatchObject([{ liftable: true }]);
      await lift();
      expect(await isBlocked(host.address)).toBe(false);
      expect(await world.fenceRows(host)).toEqual([]);
    }
  });
});

it('a fence that was removed from the cluster by hand is added again', async () => {
  const { host } = await fenced();
  await world.cluster.unfence([host.address]);
  await renewFences({ ...cloud, clusters: world.clusters, locations });
  expect(await isBlocked(host.address)).toBe(true);
});

it('a host that is connected or not fenced has no fence to lift', async () => {
  const host = await world.addHost();
  const { name } = await world.hostView(host);
  const reply = await cloud.api.call('POST', `/admin/hosts/${host.id}:lift-storage-fence`, {
    ...{ bearer: cloud.operator, body: { confirm: name } },
  });
  expect(reply).toMatchObject({ status: 409 });
});
