import { connectHost, type TestHost } from '@gantry/testkit/make/hosts';
import { unplaceVms } from '@gantry/testkit/make/placements';
import { startVms } from '@gantry/testkit/make/vms';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type PlacementRun, placePending } from './place-pending.ts';
import { type PlacingWorld, startPlacingWorld } from './testing/placing-world.ts';

let world: PlacingWorld;

beforeAll(async () => {
  world = await startPlacingWorld();
});
afterAll(() => world.stop());
beforeEach(() => world.holdLease());
afterEach(() => world.clear());

describe('a placement run', () => {
  it('places the oldest VMs first, with devices and the epoch of the lease', async () => {
    const host = await world.addHost({ gpus: 4 });
    const vmIds = await world.addVms(2, { type: 'a40.2x' });
    expect(await placePending(world.placer)).toEqual({
      leaseHeld: true,
      changed: true,
      more: false,
      placed: 2,
      failed: 0,
      hostIds: [host.id],
      placedVms: vmIds.map((vmId) => ({
        ...{ vmId, hostId: host.id, operationId: expect.any(String) },
      })),
    } satisfies PlacementRun);
    const places = await Promise.all(vmIds.map(world.hostOf));
    expect(places).toMatchObject(
      vmIds.map(() => ({ host_id: host.id, epoch: world.placer.lease.epoch })),
    );
    expect(places.flatMap((place) => place?.gpus).sort()).toEqual(host.gpuIds.toSorted());
    expect(places.flatMap((place) => place?.drives).sort()).toEqual(host.driveIds.toSorted());
    expect(await placePending(world.placer)).toMatchObject({ placed: 0, changed: false });
  });

  it('places at most its limit and reports that more may wait', async () => {
    await world.addHosts(5);
    await world.addVms(5);
    expect(await placePending(world.placer, { limit: 3 })).toMatchObject({ placed: 3, more: true });
    expect(await placePending(world.placer, { limit: 3 })).toMatchObject({
      placed: 2,
      more: false,
    });
  });

  it('splits a VM over NUMA nodes only if its type allows it', async () => {
    const { sql } = world;
    const { gpuIds } = await world.addHost({ gpus: 4, nodes: 2 });
    // One GPU of each node is free.
    const kept = gpuIds.filter((_, index) => index % 2 === 0);
    await sql`update devices set quarantine_reason = 'kept' where id = any(${kept}::uuid[])`;
    const setMaySplit = (may: boolean) =>
      sql`update vm_types set may_split = ${may} where name = 'a40.2x'`;
    await world.addVm('a40.2x');
    expect(await placePending(world.placer)).toMatchObject({ placed: 0, failed: 1 });
    await setMaySplit(true);
    const split = await world.addVm('a40.2x');
    expect(await placePending(world.placer)).toMatchObject({ placed: 1, failed: 0 });
    expect((await world.hostOf(split))?.gpus).toHaveLength(2);
    await setMaySplit(false);
  });

  it('places a VM with nested virtualization only on hosts that offer it', async () => {
    const { sql } = world;
    const [lacking, offering] = await world.addHosts(2);
    const setLacking = (lacks: boolean) =>
      sql`update hosts set lacks_nesting = ${lacks} where id = ${lacking?.id ?? ''}`;
    await setLacking(true);
    await sql`update vm_types set nested_virtualization = true where name = 'a40.1x'`;
    const vmIds = [await world.addVm(), await world.addVm()];
    expect(await placePending(world.placer)).toMatchObject({ placed: 1, failed: 1 });
    const homes = await Promise.all(vmIds.map(world.hostOf));
    expect(homes.flatMap((home) => home?.host_id ?? [])).toEqual([offering?.id]);
    await setLacking(false);
    const later = await world.addVm();
    expect(await placePending(world.placer)).toMatchObject({ placed: 1, failed: 0 });
    expect((await world.hostOf(later))?.host_id).toBe(lacking?.id);
    await sql`update vm_types set nested_virtualization = false where name = 'a40.1x'`;
  });

  it('ignores VMs that must not be placed', async () => {
    const { sql } = world;
    await world.addHosts(5);
    const [deleted = '', stopped = '', abandoned = '', settled = ''] = await world.addVms(4);
    await world.addVms(1, { location: 'us-east-a' });
    await sql`update vms set desired_state = 'deleted' where id = ${deleted}`;
    await sql`update vms set desired_state = 'stopped' where id = ${stopped}`;
    await sql`update vms set abandoned = true where id = ${abandoned}`;
    await sql`update vms set observed_generation = generation where id = ${settled}`;
    expect(await placePending(world.placer)).toMatchObject({ placed: 0, failed: 0 });
  });
});

describe('a host that drifted', () => {
  it('takes no VM until an operator accepts it', async () => {
    const host = await world.addHost();
    const other = await world.addHost();
    await world.sql`update hosts set drift = '{kernel}' where id = ${host.id}`;
    const vmIds = await world.addVms(2);
    expect(await placePending(world.placer)).toMatchObject({ placed: 1, failed: 1 });
    expect(await world.hostOf(vmIds[0] ?? '')).toMatchObject({ host_id: other.id });
    await world.sql`update hosts set drift = '{}' where id = ${host.id}`;
    const later = await world.addVm();
    expect(await placePending(world.placer)).toMatchObject({ placed: 1, failed: 0 });
    expect(await world.hostOf(later)).toMatchObject({ host_id: host.id });
  });
});

describe('a device', () => {
  it('takes no VM while a problem blocks it, and takes VMs with a warning', async () => {
    const host = await world.addHost({ gpus: 2 });
    const [sick = '', warned = ''] = host.gpuIds;
    await world.sql`update devices set problems = '[{"severity": "block"}]' where id = ${sick}`;
    await world.sql`update devices set problems = '[{"severity": "warn"}]' where id = ${warned}`;
    const vmIds = await world.addVms(2);
    expect(await placePending(world.placer)).toMatchObject({ placed: 1, failed: 1 });
    expect(await world.hostOf(vmIds[0] ?? '')).toMatchObject({ gpus: [warned] });
  });
});

describe('without room', () => {
  it('a creation fails at once with the reasons, and the VM is removed', async () => {
    await world.addHost();
    const vmIds = await world.addVms(3);
    expect(await placePending(world.placer)).toMatchObject({ placed: 1, failed: 2 });
    expect(await world.hostOf(vmIds[0] ?? '')).toBeDefined();
    for (const vmId of vmIds.slice(1)) {
      expect(await world.operationOf(vmId)).toEqual({
        state: 'FAILED',
        result: {
          code: 'out_of_stock',
          message: expect.stringContaining('no host in eu-north-a has room for a40.1x'),
          details: {
            filters: [
              ...['location', 'schedulable', 'gpu_model', 'nested_virtualization'].map(
                (filter) => ({
                  filter,
                  left: 1,
                }),
              ),
              { filter: 'gpu_count', left: 0 },
            ],
          },
        },
      });
      expect(await world.vmOf(vmId)).toMatchObject({ abandoned: true, placed: false });
    }
  });

  it('a start fails and the VM keeps its previous state', async () => {
    const { sql } = world;
    const host = await world.addHost();
    const vmId = await world.addVm();
    await placePending(world.placer);
    await unplaceVms(sql, [vmId]);
    await startVms(sql, [vmId]);
    await sql`update hosts set admin_state = 'draining' where id = ${host.id}`;
    expect(await placePending(world.placer)).toMatchObject({ placed: 0, failed: 1 });
    expect(await world.operationOf(vmId)).toMatchObject({ result: { code: 'out_of_stock' } });
    expect(await world.vmOf(vmId)).toMatchObject({ state: 'STATE_SHUTOFF', abandoned: false });
  });
});

it('a VM never fails for lack of capacity that was free before its request', async () => {
  await placePending(world.placer);
  const { hostCache } = world.placer;
  let vmId = '';
  const refresh = async () => {
    const changed = await hostCache.refresh();
    if (vmId === '') {
      await world.addHost();
      vmId = await world.addVm();
    }
    return changed;
  };
  const held = { ...world.placer, hostCache: { ...hostCache, refresh } };
  expect(await placePending(held)).toMatchObject({ failed: 0 });
  expect(await placePending(held)).toMatchObject({ placed: 1, failed: 0 });
});

describe('a host that no scheduler can reach now', () => {
  const detach = (host: TestHost) =>
    world.sql`update hosts set scheduler_id = null, stream_epoch = 1, last_seen_at = now() where id = ${host.id}`;

  it('gets no VM while another host has room', async () => {
    // Of equal hosts the newest is chosen first.
    const [reachable, detached, hung] = [
      await world.addHost(),
      await world.addHost(),
      await world.addHost(),
    ];
    await detach(detached);
    await connectHost(world.sql, { hostId: hung.id, secondsAgo: 4 });
    await connectHost(world.sql, { hostId: reachable.id, secondsAgo: 1 });
    const vmId = await world.addVm();
    expect(await placePending(world.placer)).toMatchObject({ placed: 1, failed: 0 });
    expect((await world.hostOf(vmId))?.host_id).toBe(reachable.id);
  });

  it('is waited for by a VM that fits nowhere else, until it attaches again', async () => {
    const host = await world.addHost();
    await connectHost(world.sql, { hostId: host.id, secondsAgo: 4 });
    const vmId = await world.addVm();
    const tooLarge = await world.addVm('a40.8x');
    expect(await placePending(world.placer)).toMatchObject({ placed: 0, failed: 1, more: false });
    expect((await world.operationOf(tooLarge))['state']).toBe('FAILED');
    expect((await world.operationOf(vmId))['state']).toBe('IN_PROGRESS');
    await connectHost(world.sql, { hostId: host.id });
    expect(await placePending(world.placer)).toMatchObject({ placed: 1, failed: 0 });
    expect((await world.hostOf(vmId))?.host_id).toBe(host.id);
  });

  it('fails the VM when it has become unreachable', async () => {
    const host = await world.addHost();
    await detach(host);
    const vmId = await world.addVm();
    expect(await placePending(world.placer)).toMatchObject({ placed: 0, failed: 0 });
    await world.sql`update hosts set state = 'unreachable' where id = ${host.id}`;
    expect(await placePending(world.placer)).toMatchObject({ placed: 0, failed: 1 });
    expect((await world.operationOf(vmId))['result']).toMatchObject({ code: 'out_of_stock' });
  });

  it('is waited for by a VM whose disks it has', async () => {
    const [home] = [await world.addHost(), await world.addHost()];
    const vmId = await world.addVm();
    await world.sql`update disks set host_id = ${home.id} where id in
      (select disk_id from disk_attachments where vm_id = ${vmId})`;
    await detach(home);
    expect(await placePending(world.placer)).toMatchObject({ placed: 0, failed: 0 });
    await connectHost(world.sql, { hostId: home.id });
    expect(await placePending(world.placer)).toMatchObject({ placed: 1 });
    expect((await world.hostOf(vmId))?.host_id).toBe(home.id);
  });
});
