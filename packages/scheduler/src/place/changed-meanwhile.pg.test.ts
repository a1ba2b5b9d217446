import { lockLease, renewLeases } from '@gantry/db/queries/placement/leases';
import { otherProcess } from '@gantry/testkit/database/other-process';
import type { TestHost } from '@gantry/testkit/make/hosts';
import { holdLocation, meanwhile } from '@gantry/testkit/make/placers';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { placePending } from './place-pending.ts';
import { type PlacingWorld, startPlacingWorld } from './testing/placing-world.ts';

let world: PlacingWorld;

beforeAll(async () => {
  world = await startPlacingWorld();
});
afterAll(() => world.stop());
beforeEach(() => world.holdLease());
afterEach(() => world.clear());

describe('a change between decision and commit', () => {
  let first: TestHost;
  let vmIds: string[];
  beforeEach(async () => {
    first = await world.addHost();
    vmIds = await world.addVms(1);
  });

  const by = (change: (sql: PlacingWorld['sql']) => Promise<unknown>) => change(world.sql);
  const changes: [string, () => Promise<unknown>][] = [
    [
      'a cordon',
      () => by((sql) => sql`update hosts set admin_state = 'cordoned' where id = ${first.id}`),
    ],
    [
      'a lost host',
      () => by((sql) => sql`update hosts set state = 'unreachable' where id = ${first.id}`),
    ],
    [
      'a fencing',
      () => by((sql) => sql`update hosts set fenced_at = now() where id = ${first.id}`),
    ],
    ['a removal', () => by((sql) => sql`delete from hosts where id = ${first.id}`)],
    [
      'an unclean GPU',
      () =>
        by(
          (sql) =>
            sql`update devices set state = 'quarantined' where kind = 'gpu' and host_id = ${first.id}`,
        ),
    ],
    [
      'a GPU kept back',
      () =>
        by(
          (sql) =>
            sql`update devices set quarantine_reason = 'x' where kind = 'gpu' and host_id = ${first.id}`,
        ),
    ],
    [
      'a GPU that is not healthy',
      () =>
        by(
          (sql) =>
            sql`update devices set problems = '[{"severity": "block"}]' where kind = 'gpu' and host_id = ${first.id}`,
        ),
    ],
    ['a drift', () => by((sql) => sql`update hosts set drift = '{kernel}' where id = ${first.id}`)],
    [
      'a drive that the host uses',
      () =>
        by(
          (sql) =>
            sql`update devices set state = 'used_by_host' where kind = 'drive' and host_id = ${first.id}`,
        ),
    ],
    [
      'a drive that is not healthy',
      () =>
        by(
          (sql) =>
            sql`update devices set problems = '[{"severity": "block"}]' where kind = 'drive' and host_id = ${first.id}`,
        ),
    ],
    [
      'an unclean drive',
      () =>
        by(
          (sql) =>
            sql`update devices set state = 'quarantined' where kind = 'drive' and host_id = ${first.id}`,
        ),
    ],
    [
      'a drive kept back',
      () =>
        by(
          (sql) =>
            sql`update devices set quarantine_reason = 'x' where kind = 'drive' and host_id = ${first.id}`,
        ),
    ],
  ];

  it.each(changes)('(%s) moves the VM to another host', async (_, change) => {
    // The other host is cordoned, so that the first host is chosen; then the other becomes available.
    const other = await world.addHost();
    await world.sql`update hosts set admin_state = 'cordoned' where id = ${other.id}`;
    meanwhile(world.placer, async () => {
      await world.sql`update hosts set admin_state = 'active' where id = ${other.id}`;
      await change();
    });
    expect(await placePending(world.placer)).toMatchObject({ placed: 1, failed: 0 });
    expect(await world.hostOf(vmIds[0] ?? '')).toMatchObject({
      host_id: other.id,
      gpus: other.gpuIds,
    });
  });

  it.each(changes)(
    '(%s) fails the VM as out of stock if there is no other host',
    async (_, change) => {
      meanwhile(world.placer, change);
      expect(await placePending(world.placer)).toMatchObject({ placed: 0, failed: 1 });
      expect(await world.operationOf(vmIds[0] ?? '')).toMatchObject({
        result: { code: 'out_of_stock' },
      });
      expect(await world.sql`select from placements`).toHaveLength(0);
    },
  );

  it('(a deletion) drops the VM, frees its devices and places the other VMs', async () => {
    const { sql } = world;
    await world.addHost();
    const later = await world.addVms(1);
    meanwhile(
      world.placer,
      () => sql`update vms set desired_state = 'deleted' where id = ${vmIds[0] ?? ''}`,
    );
    expect(await placePending(world.placer)).toMatchObject({ placed: 1, failed: 0 });
    expect(await world.hostOf(vmIds[0] ?? '')).toBeUndefined();
    expect(await world.hostOf(later[0] ?? '')).toBeDefined();
    await world.addVm();
    expect(await placePending(world.placer)).toMatchObject({ placed: 1, failed: 0 });
  });

  it('(a lock on a VM) does not make the run wait', async () => {
    const other = otherProcess(world.url);
    try {
      await other.begin(async (tx) => {
        await tx`select from vms where id = ${vmIds[0] ?? ''} for update`;
        expect(await placePending(world.placer)).toMatchObject({ placed: 0, failed: 0 });
      });
    } finally {
      await other.end();
    }
    expect(await placePending(world.placer)).toMatchObject({ placed: 1 });
  });

  it('(a dropped VM) leaves resources that other VMs do not fail for', async () => {
    const { sql } = world;
    const later = await world.addVms(1);
    meanwhile(
      world.placer,
      () => sql`update vms set desired_state = 'deleted' where id = ${vmIds[0] ?? ''}`,
    );
    expect(await placePending(world.placer)).toMatchObject({ placed: 0, failed: 0 });
    expect(await placePending(world.placer)).toMatchObject({ placed: 1, failed: 0 });
    expect(await world.hostOf(later[0] ?? '')).toBeDefined();
  });

  it('(another generation) makes the VM be decided again', async () => {
    const { sql } = world;
    meanwhile(
      world.placer,
      () => sql`update vms set generation = generation + 1 where id = ${vmIds[0] ?? ''}`,
    );
    expect(await placePending(world.placer)).toMatchObject({ placed: 0, failed: 0 });
    expect(await placePending(world.placer)).toMatchObject({ placed: 1, failed: 0 });
  });

  it('(a conflict of one VM) does not hold up the other VMs of its batch', async () => {
    const { sql } = world;
    await world.addHosts(3);
    await world.addVms(3);
    meanwhile(
      world.placer,
      () =>
        sql`update devices set quarantine_reason = 'x' where kind = 'gpu' and host_id = ${first.id}`,
    );
    expect(await placePending(world.placer)).toMatchObject({ placed: 3, failed: 1 });
  });

  it('(a newer lease holder) writes neither placements nor failures', async () => {
    const { sql } = world;
    await world.addVms(3);
    meanwhile(world.placer, () => holdLocation(sql));
    expect(await placePending(world.placer)).toMatchObject({
      leaseHeld: false,
      placed: 0,
      failed: 0,
    });
    expect(await sql`select from placements`).toHaveLength(0);
    expect(await sql`select from operations where state <> 'IN_PROGRESS'`).toHaveLength(0);
  });

  it('(the end of the lease) writes nothing', async () => {
    const { sql } = world;
    meanwhile(world.placer, () => sql`update leases set expires_at = now() - interval '1 second'`);
    expect(await placePending(world.placer)).toMatchObject({ leaseHeld: false, placed: 0 });
    expect(await sql`select from placements`).toHaveLength(0);
  });
});

it('a transaction that hangs keeps its host from VMs, but neither the lease nor the other hosts', async () => {
  const { sql } = world;
  // The smallest host that fits is the best one.
  const best = await world.addHost({ gpus: 1 });
  const other = await world.addHost({ gpus: 4 });
  const hanging = otherProcess(world.url);
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  let hasLocked = () => {};
  const locked = new Promise<void>((resolve) => {
    hasLocked = resolve;
  });
  const hung = hanging.begin(async (tx) => {
    expect(await lockLease(tx, world.placer.lease)).toBe(true);
    await tx`select from hosts where id = ${best.id} for share`;
    await tx`select from host_revisions where host_id = ${best.id} for update`;
    // A session that hangs cannot end itself.
    await tx`select set_config('idle_in_transaction_session_timeout', '0', true)`;
    hasLocked();
    await released;
  });
  await locked;
  expect(await renewLeases(sql, { leases: [world.placer.lease], ttlMs: 60_000 })).toHaveLength(1);
  const vmId = await world.addVm();
  expect(await placePending(world.placer)).toMatchObject({ placed: 1, failed: 0 });
  expect(await world.hostOf(vmId)).toMatchObject({ host_id: other.id });
  release();
  await hung;
  await hanging.end();
  // The other host has room for three of them.
  await world.addVms(4);
  expect(await placePending(world.placer)).toMatchObject({ placed: 4, failed: 0 });
});
