import { lockLease, renewLeases } from '@gantry/db/queries/placement/leases';
import { newId } from '@gantry/model/ids';
import { otherProcess } from '@gantry/testkit/database/other-process';
import { createTestDatabase, type TestDatabase } from '@gantry/testkit/database/test-database';
import { addHosts, connectHost, type TestHost } from '@gantry/testkit/make/hosts';
import { unplaceVms } from '@gantry/testkit/make/placements';
import { holdLocation, makePlacer, meanwhile } from '@gantry/testkit/make/placers';
import { addProject } from '@gantry/testkit/make/tenants';
import { addVms, removeVms, startVms } from '@gantry/testkit/make/vms';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type PlacementRun, type Placer, placePending } from './place-pending.ts';

let database: TestDatabase;
let projectId: string;
let placer: Placer;

beforeAll(async () => {
  database = await createTestDatabase();
  projectId = await addProject(database.sql);
});
afterAll(() => database.drop());
beforeEach(async () => {
  placer = makePlacer(database.sql, await holdLocation(database.sql));
});
afterEach(async () => {
  const { sql } = database;
  const vms = await sql<{ id: string }[]>`select id from vms`;
  await removeVms(
    sql,
    vms.map(({ id }) => id),
  );
  await sql`delete from operations`;
  await sql`delete from public_addresses`;
  await sql`delete from hosts`;
  await sql`delete from schedulers`;
});

const one = async <T>(rows: Promise<T[]>): Promise<T> => {
  const [row] = await rows;
  if (row === undefined) throw new Error('nothing there');
  return row;
};
const addHost = (plan = {}): Promise<TestHost> => one(addHosts(database.sql, 1, plan));
const addVm = (type = 'a40.1x') => one(addVms(database.sql, 1, { projectId, type }));
/** The ids of the devices of a placed VM; `p` is its placement in the outer statement. */
const claimedBy = (kind: 'gpu' | 'drive') => database.sql`array(select d.id from device_claims c
  join devices d on d.id = c.device_id where d.kind = ${kind} and c.vm_id = p.vm_id order by 1)`;
const hostOf = async (vmId: string) => {
  const [row] = await database.sql<
    { host_id: string; epoch: number; gpus: string[]; drives: string[] }[]
  >`
    select p.host_id, p.epoch::int, ${claimedBy('gpu')} as gpus, ${claimedBy('drive')} as drives
    from placements p join vms v on v.id = p.vm_id where p.vm_id = ${vmId} and v.placed`;
  return row;
};
const operationOf = (vmId: string) =>
  one(
    database.sql`select state, result from operations where resource_id = ${vmId} order by id desc limit 1`,
  );
const vmOf = (vmId: string) => one(database.sql`select * from vms where id = ${vmId}`);
const addressOf = async (vmId: string) => {
  const [row] = await database.sql<{ address: string }[]>`
    select host(address) as address from address_claims where network_interface_id = ${vmId}`;
  return row?.address;
};
describe('a placement run', () => {
  it('places the oldest VMs first, with devices and the epoch of the lease', async () => {
    const host = await addHost({ gpus: 4 });
    const vmIds = await addVms(database.sql, 2, { projectId, type: 'a40.2x' });
    expect(await placePending(placer)).toEqual({
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
    const places = await Promise.all(vmIds.map(hostOf));
    expect(places).toMatchObject(
      vmIds.map(() => ({ host_id: host.id, epoch: placer.lease.epoch })),
    );
    expect(places.flatMap((place) => place?.gpus).sort()).toEqual(host.gpuIds.toSorted());
    expect(places.flatMap((place) => place?.drives).sort()).toEqual(host.driveIds.toSorted());
    expect(await placePending(placer)).toMatchObject({ placed: 0, changed: false });
  });

  it('places at most its limit and reports that more may wait', async () => {
    await addHosts(database.sql, 5);
    await addVms(database.sql, 5, { projectId });
    expect(await placePending(placer, { limit: 3 })).toMatchObject({ placed: 3, more: true });
    expect(await placePending(placer, { limit: 3 })).toMatchObject({ placed: 2, more: false });
  });

  it('splits a VM over NUMA nodes only if its type allows it', async () => {
    const { sql } = database;
    const { gpuIds } = await addHost({ gpus: 4, nodes: 2 });
    // One GPU of each node is free.
    const kept = gpuIds.filter((_, index) => index % 2 === 0);
    await sql`update devices set quarantine_reason = 'kept' where id = any(${kept}::uuid[])`;
    const setMaySplit = (may: boolean) =>
      sql`update vm_types set may_split = ${may} where name = 'a40.2x'`;
    await addVm('a40.2x');
    expect(await placePending(placer)).toMatchObject({ placed: 0, failed: 1 });
    await setMaySplit(true);
    const split = await addVm('a40.2x');
    expect(await placePending(placer)).toMatchObject({ placed: 1, failed: 0 });
    expect((await hostOf(split))?.gpus).toHaveLength(2);
    await setMaySplit(false);
  });

  it('places a VM with nested virtualization only on hosts that offer it', async () => {
    const { sql } = database;
    const [lacking, offering] = await addHosts(sql, 2);
    const setLacking = (lacks: boolean) =>
      sql`update hosts set lacks_nesting = ${lacks} where id = ${lacking?.id ?? ''}`;
    await setLacking(true);
    await sql`update vm_types set nested_virtualization = true where name = 'a40.1x'`;
    const vmIds = [await addVm(), await addVm()];
    expect(await placePending(placer)).toMatchObject({ placed: 1, failed: 1 });
    const homes = await Promise.all(vmIds.map(hostOf));
    expect(homes.flatMap((home) => home?.host_id ?? [])).toEqual([offering?.id]);
    await setLacking(false);
    const later = await addVm();
    expect(await placePending(placer)).toMatchObject({ placed: 1, failed: 0 });
    expect((await hostOf(later))?.host_id).toBe(lacking?.id);
    await sql`update vm_types set nested_virtualization = false where name = 'a40.1x'`;
  });

  it('ignores VMs that must not be placed', async () => {
    const { sql } = database;
    await addHosts(sql, 5);
    const [deleted = '', stopped = '', abandoned = '', settled = ''] = await addVms(sql, 4, {
      projectId,
    });
    await addVms(sql, 1, { projectId, location: 'us-east-a' });
    await sql`update vms set desired_state = 'deleted' where id = ${deleted}`;
    await sql`update vms set desired_state = 'stopped' where id = ${stopped}`;
    await sql`update vms set abandoned = true where id = ${abandoned}`;
    await sql`update vms set observed_generation = generation where id = ${settled}`;
    expect(await placePending(placer)).toMatchObject({ placed: 0, failed: 0 });
  });
});

describe('a host that drifted', () => {
  it('takes no VM until an operator accepts it', async () => {
    const host = await addHost();
    const other = await addHost();
    await database.sql`update hosts set drift = '{kernel}' where id = ${host.id}`;
    const vmIds = await addVms(database.sql, 2, { projectId });
    expect(await placePending(placer)).toMatchObject({ placed: 1, failed: 1 });
    expect(await hostOf(vmIds[0] ?? '')).toMatchObject({ host_id: other.id });
    await database.sql`update hosts set drift = '{}' where id = ${host.id}`;
    const later = await addVm();
    expect(await placePending(placer)).toMatchObject({ placed: 1, failed: 0 });
    expect(await hostOf(later)).toMatchObject({ host_id: host.id });
  });
});

describe('a device', () => {
  it('takes no VM while a problem blocks it, and takes VMs with a warning', async () => {
    const host = await addHost({ gpus: 2 });
    const [sick = '', warned = ''] = host.gpuIds;
    await database.sql`update devices set problems = '[{"severity": "block"}]' where id = ${sick}`;
    await database.sql`update devices set problems = '[{"severity": "warn"}]' where id = ${warned}`;
    const vmIds = await addVms(database.sql, 2, { projectId });
    expect(await placePending(placer)).toMatchObject({ placed: 1, failed: 1 });
    expect(await hostOf(vmIds[0] ?? '')).toMatchObject({ gpus: [warned] });
  });
});

describe('without room', () => {
  it('a creation fails at once with the reasons, and the VM is removed', async () => {
    await addHost();
    const vmIds = await addVms(database.sql, 3, { projectId });
    expect(await placePending(placer)).toMatchObject({ placed: 1, failed: 2 });
    expect(await hostOf(vmIds[0] ?? '')).toBeDefined();
    for (const vmId of vmIds.slice(1)) {
      expect(await operationOf(vmId)).toEqual({
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
      expect(await vmOf(vmId)).toMatchObject({ abandoned: true, placed: false });
    }
  });

  it('a start fails and the VM keeps its previous state', async () => {
    const { sql } = database;
    const host = await addHost();
    const vmId = await addVm();
    await placePending(placer);
    await unplaceVms(sql, [vmId]);
    await startVms(sql, [vmId]);
    await sql`update hosts set admin_state = 'draining' where id = ${host.id}`;
    expect(await placePending(placer)).toMatchObject({ placed: 0, failed: 1 });
    expect(await operationOf(vmId)).toMatchObject({ result: { code: 'out_of_stock' } });
    expect(await vmOf(vmId)).toMatchObject({ state: 'STATE_SHUTOFF', abandoned: false });
  });
});

describe('a change between decision and commit', () => {
  let first: TestHost;
  let vmIds: string[];
  beforeEach(async () => {
    first = await addHost();
    vmIds = await addVms(database.sql, 1, { projectId });
  });

  const by = (change: (sql: TestDatabase['sql']) => Promise<unknown>) => change(database.sql);
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
    const other = await addHost();
    await database.sql`update hosts set admin_state = 'cordoned' where id = ${other.id}`;
    meanwhile(placer, async () => {
      await database.sql`update hosts set admin_state = 'active' where id = ${other.id}`;
      await change();
    });
    expect(await placePending(placer)).toMatchObject({ placed: 1, failed: 0 });
    expect(await hostOf(vmIds[0] ?? '')).toMatchObject({ host_id: other.id, gpus: other.gpuIds });
  });

  it.each(changes)(
    '(%s) fails the VM as out of stock if there is no other host',
    async (_, change) => {
      meanwhile(placer, change);
      expect(await placePending(placer)).toMatchObject({ placed: 0, failed: 1 });
      expect(await operationOf(vmIds[0] ?? '')).toMatchObject({ result: { code: 'out_of_stock' } });
      expect(await database.sql`select from placements`).toHaveLength(0);
    },
  );

  it('(a deletion) drops the VM, frees its devices and places the other VMs', async () => {
    const { sql } = database;
    await addHost();
    const later = await addVms(sql, 1, { projectId });
    meanwhile(
      placer,
      () => sql`update vms set desired_state = 'deleted' where id = ${vmIds[0] ?? ''}`,
    );
    expect(await placePending(placer)).toMatchObject({ placed: 1, failed: 0 });
    expect(await hostOf(vmIds[0] ?? '')).toBeUndefined();
    expect(await hostOf(later[0] ?? '')).toBeDefined();
    await addVm();
    expect(await placePending(placer)).toMatchObject({ placed: 1, failed: 0 });
  });

  it('(a lock on a VM) does not make the run wait', async () => {
    const other = otherProcess(database.url);
    try {
      await other.begin(async (tx) => {
        await tx`select from vms where id = ${vmIds[0] ?? ''} for update`;
        expect(await placePending(placer)).toMatchObject({ placed: 0, failed: 0 });
      });
    } finally {
      await other.end();
    }
    expect(await placePending(placer)).toMatchObject({ placed: 1 });
  });

  it('(a dropped VM) leaves resources that other VMs do not fail for', async () => {
    const { sql } = database;
    const later = await addVms(sql, 1, { projectId });
    meanwhile(
      placer,
      () => sql`update vms set desired_state = 'deleted' where id = ${vmIds[0] ?? ''}`,
    );
    expect(await placePending(placer)).toMatchObject({ placed: 0, failed: 0 });
    expect(await placePending(placer)).toMatchObject({ placed: 1, failed: 0 });
    expect(await hostOf(later[0] ?? '')).toBeDefined();
  });

  it('(another generation) makes the VM be decided again', async () => {
    const { sql } = database;
    meanwhile(
      placer,
      () => sql`update vms set generation = generation + 1 where id = ${vmIds[0] ?? ''}`,
    );
    expect(await placePending(placer)).toMatchObject({ placed: 0, failed: 0 });
    expect(await placePending(placer)).toMatchObject({ placed: 1, failed: 0 });
  });

  it('(a conflict of one VM) does not hold up the other VMs of its batch', async () => {
    const { sql } = database;
    await addHosts(sql, 3);
    await addVms(sql, 3, { projectId });
    meanwhile(
      placer,
      () =>
        sql`update devices set quarantine_reason = 'x' where kind = 'gpu' and host_id = ${first.id}`,
    );
    expect(await placePending(placer)).toMatchObject({ placed: 3, failed: 1 });
  });

  it('(a newer lease holder) writes neither placements nor failures', async () => {
    const { sql } = database;
    await addVms(sql, 3, { projectId });
    meanwhile(placer, () => holdLocation(sql));
    expect(await placePending(placer)).toMatchObject({ leaseHeld: false, placed: 0, failed: 0 });
    expect(await sql`select from placements`).toHaveLength(0);
    expect(await sql`select from operations where state <> 'IN_PROGRESS'`).toHaveLength(0);
  });

  it('(the end of the lease) writes nothing', async () => {
    const { sql } = database;
    meanwhile(placer, () => sql`update leases set expires_at = now() - interval '1 second'`);
    expect(await placePending(placer)).toMatchObject({ leaseHeld: false, placed: 0 });
    expect(await sql`select from placements`).toHaveLength(0);
  });
});

describe('a VM with disks is placed', () => {
  const keepDisk = (vmId: string, hostId: string) =>
    database.sql`update disks set host_id = ${hostId} where id = ${vmId}`;

  it('on the host that has the disks, even if another host fits better', async () => {
    const [small, home] = [await addHost({ gpus: 1 }), await addHost({ gpus: 8 })];
    const vmId = await addVm();
    await keepDisk(vmId, home.id);
    await placePending(placer);
    expect(await hostOf(vmId)).toMatchObject({ host_id: home.id });
    expect(small.id).not.toBe(home.id);
  });

  it('on no other host, and fails with the reason storage', async () => {
    const home = await addHost();
    await addHosts(database.sql, 3);
    const [taker, vmId] = [await addVm(), await addVm()];
    await keepDisk(taker, home.id);
    await keepDisk(vmId, home.id);
    expect(await placePending(placer)).toMatchObject({ placed: 1, failed: 1 });
    const { result } = await operationOf([taker, vmId].toSorted()[1] ?? '');
    expect(result.details.filters.at(-1)).toEqual({ filter: 'storage', left: 0 });
    expect(result.message).toContain('has its disks');
  });

  it.each([
    ['a host that is gone', async (vmId: string) => keepDisk(vmId, newId())],
    [
      'two hosts',
      async (vmId: string) => {
        const [a, b] = await addHosts(database.sql, 2);
        await keepDisk(vmId, a?.id ?? '');
        const id = newId();
        await database.sql`insert into disks (id, project_id, kind, name, type, size, size_gib, location, block_size, serial_number, host_id)
          values (${id}, ${projectId}, 'data', ${id}, 'persistent-ssd', '1GiB', 1, 'eu-north-a', 512, ${id}, ${b?.id ?? ''})`;
        await database.sql`insert into disk_attachments (disk_id, vm_id, attachment_type, mode, exclusive)
          values (${id}, ${vmId}, 'data', 'read-write', true)`;
      },
    ],
  ])('on no host if its disks are on %s', async (_, keep) => {
    await addHosts(database.sql, 2);
    const vmId = await addVm();
    await keep(vmId);
    expect(await placePending(placer)).toMatchObject({ placed: 0, failed: 1 });
    const { result } = await operationOf(vmId);
    expect(result.details.filters.at(-1)).toEqual({ filter: 'storage', left: 0 });
  });

  it('on any host with the shared storage', async () => {
    const { sql } = database;
    await addHost();
    const [home, other] = await addHosts(sql, 2, { sharedStorage: true });
    const vmIds = await addVms(sql, 3, { projectId });
    for (const vmId of vmIds) await keepDisk(vmId, home?.id ?? '');
    expect(await placePending(placer)).toMatchObject({ placed: 2, failed: 1 });
    const places = await Promise.all(vmIds.slice(0, 2).map(hostOf));
    expect(places.map((place) => place?.host_id).sort()).toEqual([home?.id, other?.id].sort());
  });
});

describe('addresses', () => {
  it('are unique private addresses of the subnet and survive a stop and start', async () => {
    const { sql } = database;
    await addHosts(sql, 20);
    const vmIds = await addVms(sql, 20, { projectId });
    await placePending(placer);
    const given = await Promise.all(vmIds.map(addressOf));
    expect(given).toEqual(vmIds.map((_, i) => `172.27.0.${5 + i}`));
    await unplaceVms(sql, vmIds.slice(0, 3));
    await startVms(sql, vmIds.slice(0, 3));
    expect(await placePending(placer)).toMatchObject({ placed: 3 });
    expect(await Promise.all(vmIds.map(addressOf))).toEqual(given);
  });

  it('that were just released are not reused while others are free', async () => {
    const { sql } = database;
    await addHosts(sql, 1);
    for (const expected of ['172.27.0.5', '172.27.0.6', '172.27.0.7']) {
      const vmId = await addVm();
      await placePending(placer);
      expect(await addressOf(vmId)).toBe(expected);
      await removeVms(sql, [vmId]);
    }
  });

  it('are found in gaps, and a full subnet is named by the failed operation', async () => {
    const { sql } = database;
    await sql`update subnets set cidr = '172.27.0.0/28' where project_id = ${projectId} and location = 'eu-north-a'`;
    await addHosts(sql, 20);
    const vmIds = await addVms(sql, 11, { projectId });
    expect(await placePending(placer)).toMatchObject({ placed: 10, failed: 1 });
    const given = await Promise.all(vmIds.slice(0, 10).map(addressOf));
    expect(new Set(given)).toEqual(
      new Set(Array.from({ length: 10 }, (_, i) => `172.27.0.${5 + i}`)),
    );
    expect(await operationOf(vmIds[10] ?? '')).toMatchObject({
      state: 'FAILED',
      result: { code: 'address_exhausted', message: expect.stringContaining('172.27.0.0/28') },
    });
    await removeVms(sql, vmIds.slice(3, 4));
    const vmId = await addVm();
    expect(await placePending(placer)).toMatchObject({ placed: 1 });
    expect(await addressOf(vmId)).toBe(given[3]);
    await sql`update subnets set cidr = '172.27.0.0/20' where project_id = ${projectId} and location = 'eu-north-a'`;
  });

  it('of the public pool are assigned until the pool is empty, and kept', async () => {
    const { sql } = database;
    await addHosts(sql, 3);
    for (const [location, address] of [
      ['eu-north-a', '192.0.2.1'],
      ['eu-north-a', '192.0.2.2'],
      ['us-east-a', '192.0.2.3'],
    ] as const)
      await sql`insert into public_addresses (id, location, address) values (${newId()}, ${location}, ${address})`;
    const vmIds = await addVms(sql, 3, { projectId });
    expect(await placePending(placer)).toMatchObject({ placed: 3 });
    const pool = () =>
      sql`select host(address) as address, network_interface_id from public_addresses order by 1`;
    const given = await pool();
    expect(given.map((row) => row['network_interface_id'])).toEqual(
      expect.arrayContaining([vmIds[0], vmIds[1], null]),
    );
    expect(given[2]).toMatchObject({ network_interface_id: null });
    await unplaceVms(sql, vmIds.slice(0, 1));
    await startVms(sql, vmIds.slice(0, 1));
    expect(await placePending(placer)).toMatchObject({ placed: 1 });
    expect(await pool()).toEqual(given);
  });
});

it('a VM never fails for lack of capacity that was free before its request', async () => {
  await placePending(placer);
  const { hostCache } = placer;
  let vmId = '';
  const refresh = async () => {
    const changed = await hostCache.refresh();
    if (vmId === '') {
      await addHost();
      vmId = await addVm();
    }
    return changed;
  };
  const held = { ...placer, hostCache: { ...hostCache, refresh } };
  expect(await placePending(held)).toMatchObject({ failed: 0 });
  expect(await placePending(held)).toMatchObject({ placed: 1, failed: 0 });
});

describe('a host that no scheduler can reach now', () => {
  const detach = (host: TestHost) =>
    database.sql`update hosts set scheduler_id = null, stream_epoch = 1, last_seen_at = now() where id = ${host.id}`;

  it('gets no VM while another host has room', async () => {
    // Of equal hosts the newest is chosen first.
    const [reachable, detached, hung] = [await addHost(), await addHost(), await addHost()];
    await detach(detached);
    await connectHost(database.sql, { hostId: hung.id, secondsAgo: 4 });
    await connectHost(database.sql, { hostId: reachable.id, secondsAgo: 1 });
    const vmId = await addVm();
    expect(await placePending(placer)).toMatchObject({ placed: 1, failed: 0 });
    expect((await hostOf(vmId))?.host_id).toBe(reachable.id);
  });

  it('is waited for by a VM that fits nowhere else, until it attaches again', async () => {
    const host = await addHost();
    await connectHost(database.sql, { hostId: host.id, secondsAgo: 4 });
    const vmId = await addVm();
    const tooLarge = await addVm('a40.8x');
    expect(await placePending(placer)).toMatchObject({ placed: 0, failed: 1, more: false });
    expect((await operationOf(tooLarge))['state']).toBe('FAILED');
    expect((await operationOf(vmId))['state']).toBe('IN_PROGRESS');
    await connectHost(database.sql, { hostId: host.id });
    expect(await placePending(placer)).toMatchObject({ placed: 1, failed: 0 });
    expect((await hostOf(vmId))?.host_id).toBe(host.id);
  });

  it('fails the VM when it has become unreachable', async () => {
    const host = await addHost();
    await detach(host);
    const vmId = await addVm();
    expect(await placePending(placer)).toMatchObject({ placed: 0, failed: 0 });
    await database.sql`update hosts set state = 'unreachable' where id = ${host.id}`;
    expect(await placePending(placer)).toMatchObject({ placed: 0, failed: 1 });
    expect((await operationOf(vmId))['result']).toMatchObject({ code: 'out_of_stock' });
  });

  it('is waited for by a VM whose disks it has', async () => {
    const [home] = [await addHost(), await addHost()];
    const vmId = await addVm();
    await database.sql`update disks set host_id = ${home.id} where id in
      (select disk_id from disk_attachments where vm_id = ${vmId})`;
    await detach(home);
    expect(await placePending(placer)).toMatchObject({ placed: 0, failed: 0 });
    await connectHost(database.sql, { hostId: home.id });
    expect(await placePending(placer)).toMatchObject({ placed: 1 });
    expect((await hostOf(vmId))?.host_id).toBe(home.id);
  });
});

it('a transaction that hangs keeps its host from VMs, but neither the lease nor the other hosts', async () => {
  const { sql } = database;
  // The smallest host that fits is the best one.
  const best = await addHost({ gpus: 1 });
  const other = await addHost({ gpus: 4 });
  const hanging = otherProcess(database.url);
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  let hasLocked = () => {};
  const locked = new Promise<void>((resolve) => {
    hasLocked = resolve;
  });
  const hung = hanging.begin(async (tx) => {
    expect(await lockLease(tx, placer.lease)).toBe(true);
    await tx`select from hosts where id = ${best.id} for share`;
    await tx`select from host_revisions where host_id = ${best.id} for update`;
    // A session that hangs cannot end itself.
    await tx`select set_config('idle_in_transaction_session_timeout', '0', true)`;
    hasLocked();
    await released;
  });
  await locked;
  expect(await renewLeases(sql, { leases: [placer.lease], ttlMs: 60_000 })).toHaveLength(1);
  const vmId = await addVm();
  expect(await placePending(placer)).toMatchObject({ placed: 1, failed: 0 });
  expect(await hostOf(vmId)).toMatchObject({ host_id: other.id });
  release();
  await hung;
  await hanging.end();
  // The other host has room for three of them.
  await addVms(sql, 4, { projectId });
  expect(await placePending(placer)).toMatchObject({ placed: 4, failed: 0 });
});
