import { beginEra } from '@gantry/db/queries/maintenance/era';
import { lookAtHost } from '@gantry/simulator/fleet/host-sight';
import { type Cloud, startCloud } from '@gantry/testkit/cloud/start-cloud';
import { disagreements, watchClaims } from '@gantry/testkit/faults/invariants/agreement';
import { ruleBody } from '@gantry/testkit/make/request-bodies';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { CRASH_POINTS } from './list.ts';
import { MortalSchedulers } from './mortal-schedulers.ts';

/**
 * A scheduler may die before and after every statement that writes. The crash points are found by
 * running every path, and compared with a list, so that a new step is noticed.
 */
let cloud: Cloud;
let schedulers: MortalSchedulers;
const PATIENCE = { timeout: 60_000, interval: 20 };
/** An enrolment whose scheduler dies may wait for the limit of its call before it is repeated. */
const ENROLMENT_PATIENCE = { timeout: 180_000, interval: 20 };
const TIMINGS = { retryMs: [10, 40], shutdownMs: 300, reportMs: 5, serialLogMs: 200 };
/** A path is run again until a round meets no crash point that is new. */
const MOST_ROUNDS = 8;
/** The steps of the transaction that records an inventory. */
const ENROLMENTS = 4;

beforeAll(async () => {
  cloud = await startCloud();
  await watchClaims(cloud.sql);
  schedulers = new MortalSchedulers(cloud);
  await schedulers.start();
});
afterAll(async () => {
  await schedulers?.stop();
  await cloud?.stop();
});

async function done(method: string, path: string, body?: unknown): Promise<string> {
  const { operationId, id } = await cloud.request(method, path, body);
  const operation = await vi.waitFor(async () => {
    const now = await cloud.operation(operationId);
    if (now.state === 'IN_PROGRESS') throw new Error(`${method} ${path} has not ended`);
    return now;
  }, PATIENCE);
  expect(operation, `${method} ${path}`).toMatchObject({ state: 'SUCCEEDED' });
  return id;
}

async function agree(): Promise<void> {
  await vi.waitFor(async () => {
    const look = async () => cloud.hosts.map(lookAtHost);
    expect(await disagreements({ sql: cloud.sql, look })).toEqual([]);
  }, PATIENCE);
}

/** Every path of the scheduler: enrol, place, deliver, settle, lose a host and take it back, an era. */
async function liveOnce(): Promise<void> {
  const { id: vm } = await cloud.createVm();
  await vi.waitFor(async () => expect(await cloud.vmState(vm)).toBe('STATE_RUNNING'), PATIENCE);
  const body = { name: `d-${vm.slice(-12)}`, size: '10GiB', location: 'eu-north-a' };
  const disk = await done('POST', '/disks', body);
  const attach = { attach_disks: [{ disk_id: disk, mode: 'read-write' }] };
  await done('POST', `/vms/${vm}/attach-disks`, attach);
  await done('PATCH', `/disks/${disk}`, { size: '11GiB' });
  const [network] = await cloud.sql<{ id: string }[]>`select id from networks limit 1`;
  const rule = await done('POST', '/vpc/firewall-rules', ruleBody(network?.id ?? ''));
  await done('PATCH', `/vpc/firewall-rules/${rule}`, { destination_ports: ['8443'] });
  await done('PATCH', `/vms/${vm}`, { action: 'RESET' });
  await done('PATCH', `/vms/${vm}`, { action: 'STOP' });
  await done('PATCH', `/vms/${vm}`, { action: 'START' });
  await done('POST', `/vms/${vm}/detach-disks`, { detach_disks: [disk] });
  const host = cloud.hosts.find(({ driver }) => driver.hypervisor.domain(vm));
  host?.driver.crashDomain(vm);
  await vi.waitFor(async () => expect(await cloud.vmState(vm)).toBe('STATE_CRASHED'), PATIENCE);
  await done('PATCH', `/vms/${vm}`, { action: 'START' });
  await loseHostOf(vm);
  await agree();
  await beginAnotherEra();
  await agree();
  await done('DELETE', `/vpc/firewall-rules/${rule}`);
  await done('DELETE', `/vms/${vm}`);
  await done('DELETE', `/disks/${disk}`);
  await agree();
}

/** As after a restored backup: every host is compared with the database before it gets a spec. */
async function beginAnotherEra(): Promise<void> {
  await beginEra(cloud.sql, { evenIfCurrent: true });
  await vi.waitFor(async () => {
    // A host whose enrolment was lost after its commit never attaches.
    const waiting = await cloud.sql`select name from hosts
      where stream_epoch > 0 and (awaits_era or awaits_comparison)`;
    expect(waiting).toEqual([]);
  }, PATIENCE);
}

/** The host is silent until it counts as lost, and comes back. The VM runs on. */
async function loseHostOf(vm: string): Promise<void> {
  const host = cloud.hosts.find(({ driver }) => driver.hypervisor.domain(vm));
  const isKnownAs = (state: string) =>
    vi.waitFor(async () => {
      const [row] = await cloud.sql`select state from hosts where id = ${host?.id ?? ''}`;
      expect(row).toEqual({ state });
    }, PATIENCE);
  host?.kill();
  await isKnownAs('unreachable');
  await host?.start();
  await isKnownAs('ready');
}

it('a scheduler that dies before or after any write leaves nothing undone and nothing done twice', {
  timeout: 600_000,
}, async ({ skip }) => {
  const [server] = await cloud.sql`select current_setting('server_version_num')::int as version`;
  skip(server?.['version'] < 180_000, 'does not depend on the version of PostgreSQL');
  for (let round = 1; round <= MOST_ROUNDS; round += 1) {
    const before = schedulers.deaths.size;
    // A host is enrolled once, and a scheduler dies once after the commit of a transaction.
    if (round <= ENROLMENTS)
      await vi.waitFor(
        () => cloud.addHost({ timings: TIMINGS, heartbeatMs: 200 }),
        ENROLMENT_PATIENCE,
      );
    await liveOnce();
    if (round > ENROLMENTS && schedulers.deaths.size === before) break;
    expect(round, 'every round met a new crash point').toBeLessThan(MOST_ROUNDS);
  }
  const listed: string[] = Object.values(CRASH_POINTS).flat();
  const unlisted = [...schedulers.steps].filter((step) => !listed.includes(step));
  expect(unlisted, 'steps without a crash point').toEqual([]);
  const points = listed.flatMap((step) => [`before ${step}`, `after ${step}`]);
  const spared = points.filter((point) => !schedulers.deaths.has(point));
  expect(spared, 'crash points that were not reached').toEqual([]);
});
