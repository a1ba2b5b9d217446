import { startLimit } from '@gantry/agent/libvirt/call-limits';
import { CATALOGUE } from '@gantry/model/vm-types';
import { endOverdueOperations } from '@gantry/scheduler/settle/end-overdue';
import type { SimulatedHost } from '@gantry/simulator/fleet/simulated-host';
import { ManualClock } from '@gantry/testkit/clock/manual-clock';
import { type Cloud, startCloud } from '@gantry/testkit/cloud/start-cloud';
import { type ByteLevelLibvirt, serveLibvirt } from '@gantry/testkit/hosts/byte-level-libvirt';
import { driveLibvirt } from '@gantry/testkit/hosts/drive-libvirt';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

/** Needs a whole host. Its 480 GiB may take 18 minutes to be cleared and locked. */
const TYPE = 'a40.8x';
const START_LIMIT_MIN = 18;
const MINUTE_MS = 60_000;

type Server = { host: SimulatedHost; libvirt: ByteLevelLibvirt };

/** Everything is real but the hosts' hardware and libvirt daemon. The agents have the test's clock. */
let cloud: Cloud;
let clock: ManualClock;
let ends: (() => Promise<void>)[];
beforeEach(async () => {
  clock = new ManualClock();
  ends = [];
  cloud = await startCloud();
  await cloud.addScheduler({ unreachableAfterMs: 30_000 });
});
afterEach(async () => {
  // A start in progress would be waited for.
  for (const host of cloud.hosts) host.kill();
  await cloud.stop();
  for (const end of ends) await end();
});

async function addServer(): Promise<Server> {
  const libvirt = await serveLibvirt();
  const host = await cloud.addHost({
    ...{ clock, sharedStorage: false, timings: { reportMs: 0 }, heartbeatMs: 200 },
    drive: async (simulated) => {
      const driven = await driveLibvirt({ libvirt, simulated, clock });
      ends.push(driven.close, libvirt.close);
      return driven.driver;
    },
  });
  return { host, libvirt };
}

const minutesAgo = (column: string) => cloud.sql`${cloud.sql(column)} - interval '1 minute'`;

/**
 * Lets time pass for the agents, and for the database, whose clock no test can move: what it has stored
 * becomes older.
 */
async function pass(minutes: number): Promise<void> {
  for (let minute = 0; minute < minutes; minute += 1) {
    clock.advance(MINUTE_MS);
    await cloud.sql`update operations set recorded_at = ${minutesAgo('recorded_at')},
      deadline_at = ${minutesAgo('deadline_at')} where state = 'IN_PROGRESS'`;
    await cloud.sql`update placements set created_at = ${minutesAgo('created_at')}`;
    await endOverdueOperations(cloud);
  }
}

/** Lets a little time pass with every look, for whatever waits for its next attempt. */
const poll = <T>(read: () => T | Promise<T>) =>
  expect.poll(
    () => {
      clock.advance(100);
      return read();
    },
    { timeout: 20_000 },
  );

const create = () => cloud.createVm({ type: TYPE });
const isStarting = (vmId: string, { libvirt }: Server) =>
  poll(() => libvirt.domain(vmId)?.state).toBe('starting');
const operationOf = async (operationId: string) =>
  (await cloud.call('GET', `/vms/operations/${operationId}`)).body;
const ended = async (operationId: string) => {
  await poll(async () => (await operationOf(operationId)).state).not.toBe('IN_PROGRESS');
  return await operationOf(operationId);
};
/** What the tenant pays for. */
const metered = async () =>
  await cloud.sql<{ resource_id: string; ended_at: Date | null }[]>`
    select resource_id, ended_at from meter_intervals where project_id = ${cloud.tenant.projectId}`;
const isOffered = async () => {
  const { body } = await cloud.call('GET', '/availabilities?location=eu-north-a');
  return body.items.find((item: { type: string }) => item.type === TYPE)?.available;
};

/** Nothing of the VM is left on the host, and the host has proven that its devices are clean. */
async function expectCleanedUp(vmId: string, { host, libvirt }: Server): Promise<void> {
  const placed = async () =>
    (await cloud.sql`select from placements where vm_id = ${vmId} and host_id = ${host.id}`).length;
  await poll(placed).toBe(0);
  expect(libvirt.domain(vmId)).toBeUndefined();
  expect(await host.driver.devices.list()).toEqual([]);
  expect(await host.driver.volumes.list()).toEqual([]);
  const receipts = await cloud.sql`select kind, failure_code from device_receipts
    where vm_id = ${vmId} and host_id = ${host.id} order by kind`;
  const clean = (kind: string) => Array(8).fill({ kind, failure_code: '' });
  expect(receipts).toEqual([...clean('drive'), ...clean('gpu')]);
}

it('a creation succeeds after a start of ten minutes, and is paid for from then on', async () => {
  const server = await addServer();
  const { id, operationId } = await create();
  await isStarting(id, server);
  await pass(10);
  expect(await operationOf(operationId)).toMatchObject({ state: 'IN_PROGRESS' });
  expect(await cloud.vmState(id)).toBe('STATE_CREATING');
  expect(await metered()).toEqual([]);
  server.libvirt.finishStart(id);
  expect(await ended(operationId)).toMatchObject({
    ...{ state: 'SUCCEEDED', result: { id, state: 'STATE_RUNNING' } },
  });
  expect(server.libvirt.domain(id)?.starts).toBe(1);
  expect(await metered()).toContainEqual({ resource_id: id, ended_at: null });
});

it('the creation of every type has more time than its start may take', async () => {
  for (const { name, memoryGb, gpuCount, diskCount } of CATALOGUE) {
    const { operationId } = await cloud.createVm({ type: name });
    const [row] = await cloud.sql<{ ms: number }[]>`
      select extract(epoch from deadline_at - recorded_at)::float8 * 1000 as ms
      from operations where id = ${operationId}`;
    // Each card has the largest number of functions.
    const cards = Array.from({ length: gpuCount + diskCount }, (_, bus) => bus.toString(16));
    const hostdevs = cards.flatMap((bus) => [...'01234567'].map((n) => `0000:${bus}:00.${n}`));
    const { timeoutMs } = startLimit({ memoryKib: memoryGb * 1_024 ** 2, hostdevs });
    expect((row?.ms ?? 0) - timeoutMs, name).toBeGreaterThanOrEqual(3 * MINUTE_MS);
  }
});

const timedOut = (message: RegExp) => ({
  ...{ state: 'FAILED' },
  result: { code: 'start_timed_out', message: expect.stringMatching(message) },
});

describe('a start that never ends', () => {
  it('fails the creation with the reason, leaves nothing behind and costs nothing', async () => {
    const server = await addServer();
    const { id, operationId } = await create();
    await isStarting(id, server);
    await poll(isOffered).toBe(false);
    await pass(START_LIMIT_MIN);
    expect(await ended(operationId)).toMatchObject(
      timedOut(/^VM \S+ did not start within 1080 s and was ended$/),
    );
    await expectCleanedUp(id, server);
    await poll(() => cloud.vmState(id)).toBe('gone');
    await poll(isOffered).toBe(true);
    expect(await metered()).toEqual([]);
  });

  it('is tried on another host, which has the whole time again', async () => {
    const servers = [await addServer(), await addServer()];
    const { id, operationId } = await create();
    const [first, second] = await byPlacement(id, servers);
    await isStarting(id, first);
    await pass(START_LIMIT_MIN);
    await isStarting(id, second);
    await expectCleanedUp(id, first);
    await pass(START_LIMIT_MIN - 1);
    expect(await cloud.vmState(id)).toBe('STATE_CREATING');
    second.libvirt.finishStart(id);
    expect(await ended(operationId)).toMatchObject({
      ...{ state: 'SUCCEEDED', result: { id, state: 'STATE_RUNNING' } },
    });
  });

  it('on two hosts fails the creation with the reason, although there is a third', async () => {
    const servers = [await addServer(), await addServer()];
    const { id, operationId } = await create();
    const [first, second] = await byPlacement(id, servers);
    await isStarting(id, first);
    await pass(START_LIMIT_MIN);
    await isStarting(id, second);
    const third = await addServer();
    await pass(START_LIMIT_MIN);
    expect(await ended(operationId)).toMatchObject(timedOut(/did not start within 1080 s/));
    for (const server of [first, second]) await expectCleanedUp(id, server);
    expect(third.libvirt.domain(id)).toBeUndefined();
    expect(await metered()).toEqual([]);
  });

  it('fails the creation with the reason if no other host has room', async () => {
    const servers = [await addServer(), await addServer()];
    const neighbour = await create();
    const [full, other] = await byPlacement(neighbour.id, servers);
    await isStarting(neighbour.id, full);
    full.libvirt.finishStart(neighbour.id);
    const { id, operationId } = await create();
    await isStarting(id, other);
    await pass(START_LIMIT_MIN);
    expect(await ended(operationId)).toMatchObject(
      timedOut(/did not start within 1080 s and was ended.*no other host/),
    );
    await expectCleanedUp(id, other);
    expect(await cloud.vmState(neighbour.id)).toBe('STATE_RUNNING');
  });
});

/** Returns the host on which the VM is placed first, and then the other. */
async function byPlacement(vmId: string, servers: Server[]): Promise<[Server, Server]> {
  const hostOf = async () =>
    (await cloud.sql`select host_id from placements where vm_id = ${vmId}`)[0]?.['host_id'];
  await poll(hostOf).toBeDefined();
  const hostId = await hostOf();
  const first = servers.find(({ host }) => host.id === hostId);
  const second = servers.find(({ host }) => host.id !== hostId);
  if (!first || !second) throw new Error('BUG: the VM is on another host');
  return [first, second];
}
