import { listHostsToFence } from '@gantry/db/queries/hosts/storage-fences';
import { fenceHosts } from '@gantry/scheduler/fencing/fence-hosts';
import { fenceStorage } from '@gantry/scheduler/fencing/fence-storage';
import { type Cloud, startCloud } from '@gantry/testkit/cloud/start-cloud';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Killed, killedAt } from './killed-cluster.ts';
import { VolumeWorld } from './volume-world.ts';

let cloud: Cloud;
let world: VolumeWorld;
beforeAll(async () => {
  cloud = await startCloud();
  world = new VolumeWorld(cloud);
  await world.begin();
});
afterAll(() => cloud.stop());

const fence = () => fenceHosts({ ...cloud, clusters: world.clusters });

describe('a fenced host with volumes', () => {
  it('cannot write to them any more before its VMs are released, and the next client writes at once', async () => {
    const host = await world.addHost();
    const vm = await world.runVm(host);
    await world.declareDead(host);
    await fence();
    expect(await world.fenceRows(host)).toEqual([
      { addresses: [host.address], effective: true, liftable: false },
    ]);
    expect(await world.cluster.listFences()).toContain(host.address);
    expect(await world.isPlaced(vm.vmId)).toBe(false);
    expect(() => vm.client.write('written after the fence')).toThrow('fenced');
    const at = { pool: 'volumes', name: vm.diskId };
    const next = world.cluster.open({ ...at, address: '10.9.2.1:0/1' });
    next.write('written by the next host');
    expect(vm.content()).toBe('written by the next host');
    expect(await world.hostView(host)).toMatchObject({
      state: 'fenced',
      storage_fence_problem: '',
      storage_fences: [expect.stringMatching(/^ceph-/)],
    });
  });

  it('keeps its VMs and disks while the cluster does not reply, says why, and goes on when it does', async () => {
    const host = await world.addHost();
    const vm = await world.runVm(host);
    await world.declareDead(host);
    for (const network of ['down', 'no_replies'] as const) {
      world.cluster.setNetwork(network);
      await fence();
      expect(await world.isPlaced(vm.vmId)).toBe(true);
      expect(await world.hostView(host)).toMatchObject({
        state: 'unreachable',
        vm_count: 1,
        storage_fence_problem: expect.stringContaining('storage cluster ceph-'),
      });
    }
    world.cluster.setNetwork('up');
    await fence();
    expect(await world.isPlaced(vm.vmId)).toBe(false);
    expect(await world.hostView(host)).toMatchObject({
      state: 'fenced',
      storage_fence_problem: '',
    });
  });

  it('a scheduler without a key of the cluster releases nothing', async () => {
    const host = await world.addHost();
    const vm = await world.runVm(host);
    await world.declareDead(host);
    await fenceHosts(cloud);
    expect(await world.isPlaced(vm.vmId)).toBe(true);
    await fence();
    expect(await world.isPlaced(vm.vmId)).toBe(false);
  });

  it('only the scheduler that has the lease of its location fences it', async () => {
    const host = await world.addHost();
    const vm = await world.runVm(host);
    await world.declareDead(host);
    await fenceHosts({ ...cloud, clusters: world.clusters, locations: ['us-west-a'] });
    expect(await world.fenceRows(host)).toEqual([]);
    await fenceHosts({ ...cloud, clusters: world.clusters, locations: ['eu-north-a'] });
    expect(await world.isPlaced(vm.vmId)).toBe(false);
  });

  it('is fenced if only the key of a VM that has left is not removed yet', async () => {
    const host = await world.addHost();
    const vm = await world.runVm(host);
    vm.client.close();
    await cloud.request('PATCH', `/vms/${vm.vmId}`, { action: 'STOP' });
    await host.obey();
    expect(await world.isPlaced(vm.vmId)).toBe(false);
    await world.declareDead(host);
    await fence();
    expect(await world.fenceRows(host)).toMatchObject([{ effective: true }]);
  });

  it('waits while a client at an unknown address has a volume open', async () => {
    const host = await world.addHost();
    const vm = await world.runVm(host);
    const at = { pool: 'volumes', name: vm.diskId };
    const stranger = world.cluster.open({ ...at, address: '10.9.3.1:0/77' });
    await world.declareDead(host);
    await fence();
    expect(await world.isPlaced(vm.vmId)).toBe(true);
    expect((await world.hostView(host)).storage_fence_problem).toContain('10.9.3.1:0/77');
    expect(await world.cluster.listFences()).not.toContain('10.9.3.1:0/77');
    stranger.close();
    await fence();
    expect(await world.isPlaced(vm.vmId)).toBe(false);
  });

  it('a scheduler that is killed between any two steps releases no VM that can still write, and the next one finishes', async () => {
    let kills = 0;
    for (let call = 1; ; call += 1) {
      let reached = false;
      for (const when of ['before', 'after'] as const) {
        const host = await world.addHost();
        const vms = [await world.runVm(host), await world.runVm(host)];
        await world.declareDead(host);
        const killed = killedAt(world.cluster, { call, when });
        await fenceHosts({ ...cloud, clusters: async () => killed.cluster }).catch((error) => {
          if (!(error instanceof Killed)) throw error;
          reached = true;
          kills += 1;
        });
        for (const { vmId, client } of vms)
          if (!(await world.isPlaced(vmId))) expect(() => client.write('late')).toThrow('fenced');
        await fence();
        for (const { vmId, client } of vms) {
          expect(await world.isPlaced(vmId)).toBe(false);
          expect(() => client.write('late')).toThrow('fenced');
        }
        expect(await world.fenceRows(host)).toMatchObject([{ effective: true }]);
      }
      if (!reached) break;
    }
    // fence, and for each of two volumes: read, break the lock, read.
    expect(kills).toBe(14);
  });

  it('is released after a kill between the fence in the cluster and the release', async () => {
    const host = await world.addHost();
    const vm = await world.runVm(host);
    await world.declareDead(host);
    const waiting = (await listHostsToFence(cloud.sql)).find(({ id }) => id === host.id);
    if (!waiting) throw new Error('BUG: the host is not to be fenced');
    expect(await fenceStorage({ ...cloud, clusters: world.clusters, host: waiting })).toBe('');
    expect(await world.isPlaced(vm.vmId)).toBe(true);
    world.cluster.setNetwork('down');
    await fence();
    world.cluster.setNetwork('up');
    expect(await world.isPlaced(vm.vmId)).toBe(false);
  });
});

describe('an address that a live host has too', () => {
  it('is never fenced: only the clients of the dead host are, and its keys open nothing any more', async () => {
    const [dead, alive] = [await world.addHost('10.9.4.1'), await world.addHost('10.9.4.1')];
    const lost = await world.runVm(dead);
    const running = await world.runVm(alive);
    await world.declareDead(dead);
    await fence();
    expect(await world.isPlaced(lost.vmId)).toBe(false);
    expect(() => lost.client.write('late')).toThrow('fenced');
    running.client.write('the neighbour still writes');
    expect(running.content()).toBe('the neighbour still writes');
    expect(await world.cluster.listFences()).not.toContain('10.9.4.1');
    const again = { pool: 'volumes', name: lost.diskId, address: '10.9.4.1:0/9999', key: lost.key };
    expect(() => world.cluster.open(again)).toThrow('does not open');
  });

  it('keeps the VMs of the dead host if its clients are not provably known', async () => {
    const [dead, alive] = [await world.addHost('10.9.4.2'), await world.addHost('10.9.4.2')];
    const lost = await world.runVm(dead);
    // Its host was cut off for longer than a watch lasts.
    lost.client.kill();
    await world.declareDead(dead);
    await fence();
    expect(await world.isPlaced(lost.vmId)).toBe(true);
    expect((await world.hostView(dead)).storage_fence_problem).toContain(
      'another host has the address 10.9.4.2 too',
    );
    expect(await world.fenceRows(dead)).toEqual([]);
    // With the other host dead, the address belongs to dead hosts alone.
    await world.declareDead(alive);
    await fence();
    expect(await world.isPlaced(lost.vmId)).toBe(false);
    expect(await world.cluster.listFences()).toContain('10.9.4.2');
  });
});
