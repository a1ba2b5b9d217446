import { type OwnServer, startOwnServer } from '@gantry/testkit/database/own-server';
import { type Client, connectClient } from '@gantry/testkit/processes/client';
import { findLeaseHolder } from '@gantry/testkit/processes/lease-holder';
import {
  type Api,
  type Fleet,
  type Processes,
  type Scheduler,
  startProcesses,
} from '@gantry/testkit/processes/start-processes';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';

/** A process or the database may hang or be unavailable for a while, and everything else continues. */
let server: OwnServer;
let processes: Processes;
let api: Api;
let client: Client;
let schedulers: Scheduler[];
let fleet: Fleet;
let made = 0;

/** Shorter than the outage below, so that every host would be unreachable after it. */
const UNREACHABLE_MS = 5_000;
const OUTAGE_MS = 8_000;
const schedulerEnv = { GANTRY_UNREACHABLE_AFTER_MS: `${UNREACHABLE_MS}` };

beforeAll(async () => {
  processes = await startProcesses({
    startDatabase: async () => {
      server = await startOwnServer();
      return { databaseUrl: server.url, stop: server.remove };
    },
  });
  api = await processes.startApi();
  schedulers = [
    await processes.startScheduler(schedulerEnv),
    await processes.startScheduler(schedulerEnv),
  ];
  client = await connectClient(processes, api);
  fleet = await processes.startFleet({
    ...{ name: 'eu', hosts: 'eu-north-a:a40-8=4', schedulers, api },
    env: {
      GANTRY_FLEET_BOOT_MS: '20',
      GANTRY_FLEET_SHUTDOWN_MS: '20',
      GANTRY_FLEET_ERASE_MS: '20',
    },
  });
});
afterAll(() => processes?.stop());

const createVm = () => client.createVm({ name: `vm-${++made}` });
const succeeds = async (operation: { operation_id: string }) =>
  expect((await client.ended(operation)).state).toBe('SUCCEEDED');
const streams = async () =>
  await processes.sql<{ name: string; scheduler_id: string | null }[]>`
    select name, scheduler_id from hosts order by name`;
const unreachable = () =>
  processes.sql`select id from events where type = 'vm_unreachable'
    union all select id from hosts where state = 'unreachable' order by id`;

/** A host attaches to the next scheduler of its list when its agent starts again. */
async function gatherHosts(schedulerId: string): Promise<void> {
  await expect
    .poll(
      async () => {
        const elsewhere = (await streams()).filter(({ scheduler_id: id }) => id !== schedulerId);
        for (const { name, scheduler_id } of elsewhere) {
          if (scheduler_id === null) continue;
          await fleet.order(name, 'kill-agent');
          await fleet.order(name, 'start-agent');
        }
        return elsewhere.length;
      },
      { interval: 500 },
    )
    .toBe(0);
}

describe('a scheduler that hangs', () => {
  it('loses its hosts and its location to another one within seconds, and no VM is placed in between', async () => {
    const { sql } = processes;
    const findHolder = () => findLeaseHolder({ sql, location: 'eu-north-a', schedulers });
    let victim: Scheduler;
    do {
      victim = await findHolder();
      await gatherHosts(victim.id);
      await succeeds(await createVm());
      // A busy machine may let the lease expire meanwhile.
    } while ((await findHolder()) !== victim);
    const other = schedulers.find((one) => one !== victim);
    if (!other) throw new Error('BUG: there is one scheduler');

    const stoppedAt = performance.now();
    victim.signal('SIGSTOP');
    try {
      const operation = await createVm();
      const [place] = await vi.waitFor(
        async () => {
          const rows = await sql`select h.scheduler_id from placements p
            join hosts h on h.id = p.host_id where p.vm_id = ${operation.metadata.id}`;
          expect(rows).toHaveLength(1);
          return rows;
        },
        { timeout: 30_000, interval: 5 },
      );
      expect(place?.['scheduler_id']).toBe(other.id);
      await succeeds(operation);
      const standstillS = (performance.now() - stoppedAt) / 1_000;
      await expect
        .poll(async () => new Set((await streams()).map(({ scheduler_id }) => scheduler_id)), {
          interval: 10,
        })
        .toEqual(new Set([other.id]));
      // The guarantee is 6 s; a busy machine needs more.
      expect(standstillS).toBeLessThan(30);
    } finally {
      victim.signal('SIGCONT');
    }
    await expect.poll(async () => (await sql`select from schedulers`).length).toBe(2);
    await succeeds(await createVm());
  });
});

describe('an outage of the database', () => {
  it('ends with its end: no host is unreachable, no tenant is told, and work goes on at once', async () => {
    const { sql } = processes;
    const before = await unreachable();
    const running = await createVm();
    await succeeds(running);
    const pending = await createVm();
    await server.stop();
    const stoppedAt = performance.now();
    expect((await client.call('GET', '/vms')).status).toBe(503);
    await expect
      .poll(() => performance.now() - stoppedAt, { interval: 100 })
      .toBeGreaterThan(OUTAGE_MS);
    await server.start();
    const startedAt = performance.now();
    await expect
      .poll(async () => (await client.call('GET', '/vms')).status, { interval: 10 })
      .toBe(200);
    const readS = (performance.now() - startedAt) / 1_000;
    await succeeds(pending);
    await succeeds(await createVm());
    expect(readS).toBeLessThan(20);

    // The schedulers judge again after they have reached the database for long enough.
    await expect
      .poll(() => performance.now() - startedAt, { interval: 100 })
      .toBeGreaterThan(OUTAGE_MS);
    expect(await unreachable()).toEqual(before);
    expect(
      await sql`select ended_at from meter_intervals where resource_id = ${running.metadata.id}`,
    ).toEqual([{ ended_at: null }]);
    expect(await client.stateOf(running.metadata.id)).toBe('STATE_RUNNING');
  });
});
