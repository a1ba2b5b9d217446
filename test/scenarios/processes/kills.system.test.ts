import { type Client, connectClient, type Operation } from '@gantry/testkit/processes/client';
import { findLeaseHolder } from '@gantry/testkit/processes/lease-holder';
import {
  type Api,
  type Fleet,
  type FleetOptions,
  type Processes,
  type Scheduler,
  startProcesses,
} from '@gantry/testkit/processes/start-processes';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

/** Any process may be killed at any moment, and acknowledged work is still done. */
let processes: Processes;
let api: Api;
let client: Client;
let schedulers: Scheduler[];
let fleet: Fleet;

const schedulerEnv = { GANTRY_LEASE_TTL_MS: '2000' };
const hosts = (): FleetOptions => ({
  ...{ name: 'eu', hosts: 'eu-north-a:a40-8=4', schedulers, api },
  env: { GANTRY_FLEET_BOOT_MS: '100', GANTRY_FLEET_SHUTDOWN_MS: '50', GANTRY_FLEET_ERASE_MS: '50' },
});

beforeAll(async () => {
  processes = await startProcesses();
  api = await processes.startApi();
  schedulers = [
    await processes.startScheduler(schedulerEnv),
    await processes.startScheduler(schedulerEnv),
  ];
  client = await connectClient(processes, api);
  fleet = await processes.startFleet(hosts());
});
afterAll(() => processes?.stop());

const everyHost = async (verb: string, body: object) => {
  for (const { name } of await fleet.hosts()) await fleet.order(name, verb, body);
};
const create = (name: string, count: number): Promise<Operation[]> =>
  Promise.all(
    Array.from({ length: count }, (_, i) => client.createVm({ name: `${name}-${i + 1}` })),
  );
const endedAs = async (operations: Operation[]) => {
  const ended = await Promise.all(operations.map((operation) => client.ended(operation)));
  return ended.map(({ state }) => state);
};
const privateAddresses = async () => {
  const { items } = (await client.call('GET', '/vms?limit=1000')).body;
  // biome-ignore lint/suspicious/noExplicitAny: VMs as the API shows them
  return items.map((vm: any) => [vm.id, vm.network_interfaces[0].ips[0].private_ipv4.address]);
};

describe('two schedulers', () => {
  const serving = async () => {
    const rows = await processes.sql`select distinct scheduler_id as id from hosts`;
    return rows.map(({ id }) => id).sort();
  };
  const both = () => schedulers.map(({ id }) => id).sort();

  it('both serve hosts', async () => {
    const names = (await fleet.hosts()).map(({ name }) => name);
    let turn = 0;
    // A host chooses a scheduler at random, and chooses again when it attaches again.
    await expect
      .poll(
        async () => {
          const before = await serving();
          if (before.includes(null) || before.length === 2) return before;
          const name = names[turn++ % names.length] ?? '';
          await fleet.order(name, 'kill-agent');
          await fleet.order(name, 'start-agent');
          return before;
        },
        { interval: 200 },
      )
      .toEqual(both());
  });

  it('continue as one when the lease holder is killed during creations', async () => {
    const { sql } = processes;
    const holder = async () =>
      (await sql`select holder from leases where location = 'eu-north-a'`)[0]?.['holder'];
    const victim = await findLeaseHolder({ sql, location: 'eu-north-a', schedulers });
    const other = schedulers.find((one) => one !== victim);
    expect(other).toBeDefined();

    await everyHost('hang', { step: 'start' });
    const placed = await create('placed', 6);
    await expect.poll(async () => (await sql`select from placements`).length).toBe(6);
    const unplaced = create('unplaced', 6);
    await victim.kill();
    await expect.poll(holder, { interval: 50 }).toBe(other?.id);
    await everyHost('unhang', { step: 'start' });
    const all = [...placed, ...(await unplaced)];
    expect(await endedAs(all)).toEqual(all.map(() => 'SUCCEEDED'));
    expect(
      await sql`select distinct c.device_id from device_claims c
      join devices d on d.id = c.device_id where d.kind = 'gpu'`,
    ).toHaveLength(12);
    // A host without a VM of this test may attach to the other scheduler later than the rest.
    await expect.poll(serving).toEqual([other?.id]);

    const again = { ...schedulerEnv, GANTRY_FLEET_PORT: `${victim.port}` };
    schedulers = schedulers.filter((one) => one !== victim);
    schedulers.push(await processes.startScheduler(again));
  });
});

describe('hosts that all lose power at once', () => {
  it('run their VMs again, finish what was begun, and lose nothing', async () => {
    const stopped = (await client.call('GET', '/vms?names=placed-1')).body.items[0].id;
    await client.ended(await client.open('PATCH', `/vms/${stopped}`, { action: 'STOP' }));
    const carrier = (await client.call('GET', '/vms?names=placed-2')).body.items[0].id;
    const disk = await client.open('POST', '/disks', {
      ...{ name: 'kept', size: '10GiB', location: 'eu-north-a' },
    });
    await client.ended(disk);
    const attachment = { disk_id: disk.metadata.id, mode: 'read-write', attachment_type: 'data' };
    const attach = { attach_disks: [attachment] };
    await client.ended(await client.open('POST', `/vms/${carrier}/attach-disks`, attach));
    const addresses = await privateAddresses();
    const idsBefore = (await fleet.hosts()).map(({ host_id }) => host_id).sort();

    const doomed = (await client.call('GET', '/vms?names=placed-3')).body.items[0].id;
    await everyHost('hang', { step: 'undefine' });
    await everyHost('hang', { step: 'start' });
    const deletion = await client.open('DELETE', `/vms/${doomed}`);
    const [creation] = await create('interrupted', 1);
    await expect
      .poll(async () => (await fleet.hosts()).flatMap(({ vms }) => vms.map(({ id }) => id)))
      .toContain(creation.metadata.id);
    await fleet.kill();

    fleet = await processes.startFleet(hosts());
    expect((await fleet.hosts()).map(({ host_id }) => host_id).sort()).toEqual(idsBefore);
    expect(await endedAs([creation, deletion])).toEqual(['SUCCEEDED', 'SUCCEEDED']);
    const isLeft = ([id]: [string]) => id !== doomed;
    const left = [...addresses.filter(isLeft)];
    expect((await privateAddresses()).slice(0, left.length)).toEqual(left);
    const wanted = [...left.map(([id]: [string]) => id), creation.metadata.id].filter(
      (id) => id !== stopped,
    );
    const running = async () =>
      (await fleet.hosts())
        .flatMap(({ vms }) => vms.filter(({ state }) => state === 'running'))
        .map(({ id }) => id)
        .sort();
    await expect.poll(running).toEqual(wanted.sort());
    for (const id of wanted) {
      await expect.poll(() => client.stateOf(id)).toBe('STATE_RUNNING');
    }
    expect(await client.stateOf(stopped)).toBe('STATE_SHUTOFF');
    expect((await client.call('GET', `/vms/${carrier}`)).body.disks).toMatchObject([
      {},
      { id: disk.metadata.id, size: '10GiB' },
    ]);
  });
});

describe('an api that is killed during a burst of requests', () => {
  it('loses nothing that it acknowledged', async () => {
    const acknowledged: Operation[] = [];
    const write = async (worker: number) => {
      for (let i = 0; ; i += 1) {
        const name = `burst-${worker}-${i}`;
        const isVm = i === 2;
        const body = { name, size: '1GiB', location: 'eu-north-a' };
        const opened = isVm
          ? await client.createVm({ name })
          : await client.open('POST', '/disks', body);
        acknowledged.push(opened);
      }
    };
    const writing = [1, 2, 3, 4].map((worker) => write(worker).catch(() => 'cut off'));
    await expect.poll(() => acknowledged.length, { interval: 5 }).toBeGreaterThan(20);
    await api.kill();
    expect(new Set(await Promise.all(writing))).toEqual(new Set(['cut off']));

    api = await processes.startApi();
    client = await connectClient(processes, api);
    expect(await endedAs(acknowledged)).toEqual(acknowledged.map(() => 'SUCCEEDED'));
    const vms = acknowledged.filter(({ metadata }) => metadata.type === 'vm');
    expect(vms.length).toBeGreaterThan(0);
    for (const { metadata } of vms) expect(await client.stateOf(metadata.id)).toBe('STATE_RUNNING');
    const { items } = (await client.call('GET', '/disks')).body;
    const kept = new Set(items.map(({ id }: { id: string }) => id));
    const disks = acknowledged.filter(({ metadata }) => metadata.type === 'disk');
    expect(disks.filter(({ metadata }) => !kept.has(metadata.id))).toEqual([]);
  });
});
