import { type CephCloud, startCephCloud } from '@gantry/testkit/ceph/ceph-cloud';
import { LOCATION, type RealHost, VM_TYPE } from '@gantry/testkit/real-host/real-cloud';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { expectNothingLeft, listKeys, listVolumes } from '../../ceph/storage-checks.ts';
import { type Gate, installGate } from './write-gate.ts';

/**
 * A host loses its agent, while its guest goes on. It is fenced, and its VM restarts on another host. The scheduler dies
 * with SIGKILL once at each of its writes meanwhile, before the commit, and the agent of the other host when it gets the
 * VM. Afterwards one host has the VM, and the cluster has what the database has.
 */
const TABLES = [
  ...['storage_fences', 'placements', 'vms', 'disks', 'disk_attachments'],
  ...['volume_keys', 'discarded_volumes', 'operations', 'events'],
];
/** At each of these it must have died, so that the test notices if a step is not reached any more. */
const EXPECTED = [
  ...['storage_fences INSERT', 'storage_fences UPDATE', 'placements DELETE', 'placements INSERT'],
  ...['volume_keys UPDATE', 'volume_keys DELETE', 'vms UPDATE'],
];
/** A host counts as lost after ten seconds, and every start of a scheduler takes some. */
const PATIENCE = { timeout: 400_000 };

// biome-ignore lint/suspicious/noExplicitAny: tests look into replies freely
type Shown = any;

let cloud: CephCloud;
let gate: Gate | undefined;

beforeAll(async () => {
  cloud = await startCephCloud(['one', 'two']);
});
afterAll(async () => {
  await gate?.close();
  await cloud?.stop();
});

const carryOut = async (method: string, path: string, body?: object): Promise<Shown> => {
  const operation = await cloud.client.ended(await cloud.client.open(method, path, body));
  expect(operation).toMatchObject({ state: 'SUCCEEDED' });
  return operation.result;
};

const killAtGate = async () => {
  const point = await gate?.reached();
  if (!point) return;
  await cloud.scheduler.kill();
  await gate?.pass(point);
  await cloud.startScheduler();
};

/** Kills the scheduler whenever it reaches a new point, until the condition holds. */
const withKills = (read: () => Promise<unknown>) =>
  expect.poll(async () => {
    await killAtGate();
    return await read();
  }, PATIENCE);

const namesOf = async (host: RealHost) => await host.libvirtd.run('virsh', 'list', '--name');

it('a scheduler or agent that is killed during a fence and an evacuation leaves one host with the VM, and nothing else', {
  timeout: 900_000,
}, async () => {
  const vm = await carryOut('POST', '/vms', {
    ...{ name: 'one', type: VM_TYPE, location: LOCATION, image: 'tiny' },
    ssh_public_key:
      'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGnZ0P5QvE0y4tH0zvYt0rR0lKqM3p5D0m5lqDkZ5sYx me',
    on_host_failure: 'restart',
  });
  const disk = await carryOut('POST', '/disks', { name: 'data', size: '1GiB', location: LOCATION });
  const attach_disks = [{ disk_id: disk.id, mode: 'read-write' }];
  await carryOut('POST', `/vms/${vm.id}/attach-disks`, { attach_disks });
  const dead = await cloud.hostOf(vm.id);
  const other = cloud.hosts.find(({ name }) => name !== dead.name);
  if (!other) throw new Error('BUG: there is one host only');
  const stateOf = () => cloud.client.stateOf(vm.id);
  await dead.agent.kill();
  await expect.poll(stateOf, PATIENCE).toBe('STATE_UNREACHABLE');

  gate = await installGate(cloud.processes.sql, TABLES);
  const hosts: Shown[] = (await cloud.client.admin('GET', '/hosts')).body.items;
  const { id: deadId } = hosts.find(({ name }) => name === dead.name);
  const fence = { confirm: dead.name };
  expect(await cloud.client.admin('POST', `/hosts/${deadId}:fence`, fence)).toMatchObject({
    status: 200,
  });
  const placedOn = async () =>
    (await cloud.processes.sql`select host_id from placements where vm_id = ${vm.id}`)[0]?.[
      'host_id'
    ];
  await withKills(async () => (await placedOn()) ?? deadId).not.toBe(deadId);
  await other.agent.kill();
  await other.startAgent();
  await withKills(stateOf).toBe('STATE_RUNNING');

  const domain = `gantry-${vm.id}`;
  expect(await namesOf(other)).toContain(domain);
  // The guest of the fenced host runs on, and the cluster refuses it.
  expect(await namesOf(dead)).toContain(domain);
  expect(await cloud.ceph.run('ceph', 'osd', 'blocklist', 'ls')).toContain(dead.address);
  await withKills(async () => (await listKeys(cloud)).length).toBe(2);
  const passed = gate.passed();
  await gate.close();
  gate = undefined;
  process.stdout.write(`The scheduler was killed at: ${passed.join(', ')}.\n`);
  expect(passed).toEqual(expect.arrayContaining(EXPECTED));
  await expectNothingLeft(cloud);

  await carryOut('DELETE', `/vms/${vm.id}`);
  await carryOut('DELETE', `/disks/${disk.id}`);
  await expectNothingLeft(cloud);
  expect([await listVolumes(cloud), await listKeys(cloud)]).toEqual([[], []]);
});
