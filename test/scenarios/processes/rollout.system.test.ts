import { AGENT_VERSION } from '@gantry/agent/inventory/version';
import { type Client, connectClient } from '@gantry/testkit/processes/client';
import {
  type Api,
  type Fleet,
  type Processes,
  type Scheduler,
  startProcesses,
} from '@gantry/testkit/processes/start-processes';
import { afterAll, beforeAll, expect, it } from 'vitest';

/**
 * A rollout to a fleet of which some hosts fail, with api, schedulers and agents as processes. `npm run bench:rollout`
 * is the same with 1,000 hosts of which 5 % fail, and prints how long each part took.
 */
const isBench = process.env['GANTRY_ROLLOUT_HOSTS'] !== undefined;
const HOSTS = Number(process.env['GANTRY_ROLLOUT_HOSTS'] ?? 12);
const PLAN = isBench
  ? { percent: 5, vms: 100, canary_count: 10, batch_size: 200, max_failures: 20, limitS: 60 }
  : { percent: 25, vms: 4, canary_count: 2, batch_size: 8, max_failures: 0, limitS: 10 };
/** More processes use more cores. */
const HOSTS_PER_FLEET = 250;
const VERSION = '9.0.0';
const PATIENCE = { timeout: isBench ? 1_200_000 : 120_000, interval: 250 };
const TEST_LIMIT = { timeout: 1_800_000 };

let processes: Processes;
let api: Api;
let client: Client;
const schedulers: Scheduler[] = [];
const fleets: Fleet[] = [];

beforeAll(async () => {
  processes = await startProcesses(isBench ? { readyLimitMs: 600_000 } : {});
  api = await processes.startApi();
  schedulers.push(await processes.startScheduler(), await processes.startScheduler());
  client = await connectClient(processes, api);
  for (let first = 0; first < HOSTS; first += HOSTS_PER_FLEET) {
    const count = Math.min(HOSTS_PER_FLEET, HOSTS - first);
    const location = fleets.length % 2 === 0 ? 'eu-north-a' : 'us-east-a';
    fleets.push(await startFleet(location, count));
  }
}, 1_200_000);
afterAll(() => processes?.stop());

/** Fleets of one location differ by their models, because hosts are named by location and model. */
const MODELS = ['a40-8', 'a100-40gb-8', 'a100-80gb-8', 'l40s-8', 'l40s-10'];

function startFleet(location: string, count: number): Promise<Fleet> {
  const model = MODELS[Math.floor(fleets.length / 2)];
  return processes.startFleet({
    ...{ name: `fleet-${fleets.length}`, hosts: `${location}:${model}=${count}`, schedulers, api },
    env: {
      ...{ GANTRY_FLEET_BOOT_MS: '20', GANTRY_FLEET_UPGRADE_MS: '200' },
      GANTRY_FLEET_UPGRADE_FAILURE_PERCENT: String(PLAN.percent),
    },
  });
}

const readRollout = async (id: string) => (await client.admin('GET', `/rollouts/${id}`)).body;

/** How often each VM was started and reset, as the hosts themselves know it. */
async function readDomains() {
  const sights = (await Promise.all(fleets.map((fleet) => fleet.sights()))).flat();
  return sights
    .flatMap(({ domains }) => domains.map(({ vmId, starts, resets }) => ({ vmId, starts, resets })))
    .sort((a, b) => (a.vmId < b.vmId ? -1 : 1));
}

const readVersions = async () => {
  const rows = await processes.sql<{ version: string; hosts: number }[]>`
    select inventory #>> '{software,agent}' as version, count(*)::int as hosts from hosts
    where state = 'ready' and scheduler_id is not null group by 1`;
  return Object.fromEntries(rows.map(({ version, hosts }) => [version, hosts]));
};

/** Ends a scheduler without notice, and starts another one at the same port. */
async function replaceScheduler(index: number): Promise<void> {
  const { port, kill } = schedulers[index] ?? { port: 0, kill: async () => {} };
  await kill();
  schedulers[index] = await processes.startScheduler({ GANTRY_FLEET_PORT: String(port) });
}

it(
  'a rollout of which hosts fail pauses, and its roll-back touches no VM',
  TEST_LIMIT,
  async () => {
    const vms = await Promise.all(
      Array.from({ length: PLAN.vms }, (_, i) => client.createVm({ name: `vm-${i}` })),
    );
    for (const { state } of await Promise.all(vms.map((vm) => client.ended(vm))))
      expect(state).toBe('SUCCEEDED');
    const before = await readDomains();
    expect(before).toHaveLength(PLAN.vms);
    const original = AGENT_VERSION;

    const startedMs = performance.now();
    const { percent: _, vms: __, limitS, ...waves } = PLAN;
    const created = await client.admin('POST', '/rollouts', {
      ...{ version: VERSION, labels: {}, host_time_limit_seconds: limitS, ...waves },
    });
    expect(created).toMatchObject({ status: 200, body: { hosts: { pending: HOSTS } } });
    const { id } = created.body;
    await expect.poll(async () => (await readRollout(id)).wave, PATIENCE).toBeGreaterThan(0);
    await replaceScheduler(0);
    await expect.poll(async () => (await readRollout(id)).state, PATIENCE).toBe('paused');
    const pausedMs = performance.now();
    const paused = await readRollout(id);
    expect(paused.state_reason).toMatch(/hosts have failed/);
    expect(paused.hosts.failed).toBeGreaterThan(PLAN.max_failures);
    expect(paused.hosts.done).toBeGreaterThan(0);
    // Hosts of waves that have not begun keep their version, connected or not.
    const changed = await processes.sql`select from rollout_hosts u join hosts h on h.id = u.host_id
      where u.rollout_id = ${id} and u.state = 'pending' and h.inventory #>> '{software,agent}' <> ${original}`;
    expect(changed).toHaveLength(0);

    expect((await client.admin('POST', `/rollouts/${id}:roll-back`)).status).toBe(200);
    await replaceScheduler(1);
    await expect.poll(async () => (await readRollout(id)).state, PATIENCE).toBe('rolled_back');
    const rolledBackMs = performance.now();
    await expect.poll(readVersions, PATIENCE).toEqual({ [original]: HOSTS });
    const last = await readRollout(id);
    expect(last.hosts).toMatchObject({ pending: 0, updating: 0, rolling_back: 0 });
    expect(last.hosts.rolled_back).toBe(
      paused.hosts.done + paused.hosts.failed + paused.hosts.updating,
    );

    expect(await readDomains()).toEqual(before);
    for (const { metadata } of vms)
      await expect.poll(() => client.stateOf(metadata.id), PATIENCE).toBe('STATE_RUNNING');
    const seconds = (ms: number) => (ms / 1_000).toFixed(1);
    process.stdout.write(
      [
        `${HOSTS} hosts, ${PLAN.vms} VMs: paused in wave ${paused.wave} of ${paused.last_wave}`,
        `with ${paused.hosts.done} done and ${paused.hosts.failed} failed after ${seconds(pausedMs - startedMs)} s,`,
        `rolled back after another ${seconds(rolledBackMs - pausedMs)} s, no VM touched\n`,
      ].join(' '),
    );
  },
);
