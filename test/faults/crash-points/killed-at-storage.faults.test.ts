import { type CephCloud, startCephCloud } from '@gantry/testkit/ceph/ceph-cloud';
import { LOCATION, VM_TYPE } from '@gantry/testkit/real-host/real-cloud';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { expectNothingLeft, listKeys, listVolumes } from '../../ceph/storage-checks.ts';
import { type Gate, installGate } from './write-gate.ts';

/**
 * Processes are killed with SIGKILL while they create, attach, snapshot and delete disks in a real cluster. The scheduler
 * dies once at each of its writes, before the commit: the cluster has the change already, and the database does not know.
 * The agent dies after each request. Afterwards the cluster has what the database has, and nothing else.
 */

/** What a scheduler writes when it does something in the cluster, and when it places, settles and releases. */
const TABLES = [
  ...['disks', 'volume_keys', 'discarded_volumes', 'snapshots', 'pool_images'],
  ...['disk_attachments', 'placements', 'vms', 'operations'],
];
/** At each of these it must have died, so that the test notices if a step is not reached any more. */
const EXPECTED = [
  ...['disks UPDATE', 'volume_keys INSERT', 'volume_keys UPDATE', 'volume_keys DELETE'],
  ...['discarded_volumes DELETE', 'snapshots UPDATE', 'snapshots DELETE', 'placements INSERT'],
];

// biome-ignore lint/suspicious/noExplicitAny: tests look into replies freely
type Shown = any;

let cloud: CephCloud;
let gate: Gate;

beforeAll(async () => {
  cloud = await startCephCloud(['one']);
  gate = await installGate(cloud.processes.sql, TABLES);
});
afterAll(async () => {
  await gate?.close();
  await cloud?.stop();
});

/** Carries out a request. Kills the scheduler at each new point, and the agent at the beginning. */
const carryOut = async (method: string, path: string, body?: object): Promise<Shown> => {
  const operation = await cloud.client.open(method, path, body);
  const [host] = cloud.hosts;
  await host?.agent.kill();
  await host?.startAgent();
  for (;;) {
    await killAtGate();
    const now = await cloud.client.read(operation);
    if (now.state === 'IN_PROGRESS') continue;
    expect(now).toMatchObject({ state: 'SUCCEEDED' });
    return now.result;
  }
};

const killAtGate = async () => {
  const point = await gate.reached();
  if (point === null) return;
  await cloud.scheduler.kill();
  await gate.pass(point);
  await cloud.startScheduler();
};

it('a killed scheduler or agent leaves no volume without a disk, no key without a volume and no client', {
  timeout: 900_000,
}, async () => {
  const vm = await carryOut('POST', '/vms', {
    ...{ name: 'one', type: VM_TYPE, location: LOCATION, image: 'tiny' },
    ssh_public_key:
      'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGnZ0P5QvE0y4tH0zvYt0rR0lKqM3p5D0m5lqDkZ5sYx me',
  });
  const disk = await carryOut('POST', '/disks', { name: 'data', size: '1GiB', location: LOCATION });
  const attach_disks = [{ disk_id: disk.id, mode: 'read-write' }];
  await carryOut('POST', `/vms/${vm.id}/attach-disks`, { attach_disks });
  const snapshot = await carryOut('POST', '/snapshots', { name: 'kept', disk_id: disk.id });
  await carryOut('POST', `/vms/${vm.id}/detach-disks`, { detach_disks: [disk.id] });
  await carryOut('DELETE', `/snapshots/${snapshot.id}`);
  await carryOut('DELETE', `/disks/${disk.id}`);
  await carryOut('DELETE', `/vms/${vm.id}`);
  // What is removed after the operations have ended.
  await expect
    .poll(
      async () => {
        await killAtGate();
        return [await listVolumes(cloud), await listKeys(cloud)];
      },
      { timeout: 180_000 },
    )
    .toEqual([[], []]);
  await expectNothingLeft(cloud);
  process.stdout.write(`The scheduler was killed at: ${gate.passed().join(', ')}.\n`);
  expect(gate.passed()).toEqual(expect.arrayContaining(EXPECTED));
});
