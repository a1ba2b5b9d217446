import path from 'node:path';
import { connectClient } from '@gantry/testkit/processes/client';
import {
  type Checkouts,
  type Fleet,
  type Processes,
  startProcesses,
} from '@gantry/testkit/processes/start-processes';
import { afterEach, describe, expect, it } from 'vitest';
import { createVm, liveToTheEnd } from './whole-life.ts';

/**
 * Hosts and control planes of two versions work together: this checkout, and the other one that
 * `npm run test:versions` has built. Operators replace the control plane first and then one host after
 * another, so both orders occur, and also for as long as the operator likes.
 */
const here = path.resolve(import.meta.dirname, '../..');
const other = process.env['GANTRY_OTHER_CHECKOUT'] ?? '';
if (!other) throw new Error('run this test by: npm run test:versions -- REVISION');

let processes: Processes;
afterEach(() => processes?.stop());

async function start(checkouts: Checkouts) {
  processes = await startProcesses({ checkouts });
  const plane = await startControlPlane();
  const fleet = await startFleet(plane);
  return { ...plane, fleet, client: await connectClient(processes, plane.api) };
}

async function startControlPlane() {
  return { api: await processes.startApi(), scheduler: await processes.startScheduler() };
}

type Plane = Awaited<ReturnType<typeof startControlPlane>>;
const startFleet = ({ api, scheduler }: Plane): Promise<Fleet> =>
  processes.startFleet({
    ...{ name: 'fleet', hosts: 'eu-north-a:a40-8=2', schedulers: [scheduler], api },
    env: { GANTRY_FLEET_BOOT_MS: '20', GANTRY_FLEET_SHUTDOWN_MS: '20' },
  });

describe.each([
  {
    title: 'hosts of the other version under this control plane',
    controlPlane: here,
    hosts: other,
  },
  {
    title: 'hosts of this version under the other control plane',
    controlPlane: other,
    hosts: here,
  },
])('$title', ({ controlPlane, hosts }) => {
  it('bring up a VM, perform every action on it, and delete it', async () => {
    const { client } = await start({ controlPlane, hosts });
    await liveToTheEnd(client, await createVm(client, 'life'));
  });
});

it('a VM of the other version is used until its end after the control plane and then its host are replaced', async () => {
  const before = await start({ controlPlane: other, hosts: other });
  const [kept, moved] = [
    await createVm(before.client, 'first'),
    await createVm(before.client, 'second'),
  ];
  for (const old of [before.api, before.scheduler]) await old.kill();
  processes.use({ controlPlane: here });
  // The hosts look for the scheduler where it was.
  const plane = {
    api: await processes.startApi(),
    scheduler: await processes.startScheduler({ GANTRY_FLEET_PORT: `${before.scheduler.port}` }),
  };
  const client = await connectClient(processes, plane.api);
  expect(await client.stateOf(kept)).toBe('STATE_RUNNING');
  await liveToTheEnd(client, kept);
  await before.fleet.kill();
  processes.use({ hosts: here });
  await startFleet(plane);
  // A simulated host that is started again has lost its power.
  const started = await client.ended(
    await client.open('PATCH', `/vms/${moved}`, { action: 'RESET' }),
  );
  expect(started).toMatchObject({ state: 'SUCCEEDED' });
  await liveToTheEnd(client, moved);
});

it('a control plane is replaced process by process, and tenants use both versions meanwhile', async () => {
  const { api, scheduler, client } = await start({ controlPlane: other, hosts: other });
  const vms = [await createVm(client, 'before')];
  processes.use({ controlPlane: here });
  // The first process of the new version migrates the database under the old ones.
  const newApi = await processes.startApi();
  const newClient = await connectClient(processes, newApi);
  vms.push(await createVm(client, 'by-old'), await createVm(newClient, 'by-new'));
  const newScheduler = await processes.startScheduler();
  await liveToTheEnd(client, await createVm(newClient, 'both'));
  await api.kill();
  await scheduler.kill();
  // The hosts look for a scheduler where the old one was.
  await newScheduler.kill();
  await processes.startScheduler({ GANTRY_FLEET_PORT: `${scheduler.port}` });
  for (const vm of vms) await liveToTheEnd(newClient, vm);
});
