import { setTimeout as delay } from 'node:timers/promises';
import { type CephCloud, startCephCloud } from '@gantry/testkit/ceph/ceph-cloud';
import { openGuestShell } from '@gantry/testkit/real-host/guest/guest-shell';
import { LOCATION, VM_TYPE } from '@gantry/testkit/real-host/real-cloud';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { missedGoals, row } from '../fleet/table.ts';
import { median } from '../median.ts';
import { type OwnDisk, openOwnDisk } from './own-disk.ts';

/**
 * How long attach, detach, grow and snapshot take over HTTP, from the request until its operation has ended, beside the
 * time that libvirt and `rbd` need for the same step. Everything is real: api, scheduler, agent, libvirt, QEMU and Ceph.
 */
const ROUNDS = Number(process.env['GANTRY_BENCH_RUNS'] ?? 7);
const GOAL = { most: 300 };
/** A client that asks this often adds little to what it measures. */
const ASK_MS = 5;

// biome-ignore lint/suspicious/noExplicitAny: looks into replies freely
type Shown = any;

let cloud: CephCloud;

beforeAll(async () => {
  cloud = await startCephCloud(['one']);
});
afterAll(async () => {
  await cloud?.stop();
});

const carryOut = async (method: string, path: string, body?: object): Promise<Shown> => {
  const operation = await cloud.client.open(method, path, body);
  for (;;) {
    const now = await cloud.client.read(operation);
    if (now.state !== 'IN_PROGRESS') {
      expect(now).toMatchObject({ state: 'SUCCEEDED' });
      return now.result;
    }
    await delay(ASK_MS);
  }
};

const timeOf = async (work: () => Promise<unknown>): Promise<number> => {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
};

const STEPS = ['create', 'attach', 'grow', 'snapshot', 'detach', 'delete'] as const;
type Times = Record<(typeof STEPS)[number], number>;

const makeDisk = (name: string) =>
  carryOut('POST', '/disks', { name, size: '1GiB', location: LOCATION });
const attach = (vm: Shown, disk: Shown) =>
  carryOut('POST', `/vms/${vm.id}/attach-disks`, {
    attach_disks: [{ disk_id: disk.id, mode: 'read-write' }],
  });
const detach = (vm: Shown, disk: Shown) =>
  carryOut('POST', `/vms/${vm.id}/detach-disks`, { detach_disks: [disk.id] });

async function overHttp(vm: Shown, round: number): Promise<Times> {
  let disk: Shown;
  const create = await timeOf(async () => {
    disk = await makeDisk(`disk-${round}`);
  });
  const attached = await timeOf(() => attach(vm, disk));
  const grow = await timeOf(() => carryOut('PATCH', `/disks/${disk.id}`, { size: '2GiB' }));
  let made: Shown;
  const snapshot = await timeOf(async () => {
    made = await carryOut('POST', '/snapshots', { name: `snapshot-${round}`, disk_id: disk.id });
  });
  const detached = await timeOf(() => detach(vm, disk));
  await carryOut('DELETE', `/snapshots/${made.id}`);
  const remove = await timeOf(() => carryOut('DELETE', `/disks/${disk.id}`));
  return { create, attach: attached, grow, snapshot, detach: detached, delete: remove };
}

/** The same steps without the control plane and the agent. */
async function byItself(disk: OwnDisk, round: number): Promise<Times> {
  const rbd = (...args: string[]) => timeOf(() => cloud.ceph.run('rbd', ...args));
  const name = `volumes/own-${round}`;
  return {
    create: await rbd('create', '--size', '1G', name),
    detach: await timeOf(disk.detach),
    attach: await timeOf(disk.attach),
    grow: await timeOf(() => disk.growTo(2 + round)),
    snapshot: await rbd('snap', 'create', '--no-progress', `volumes/${disk.id}@own-${round}`),
    delete: await rbd('rm', '--no-progress', name),
  };
}

it('attach, grow, snapshot and detach add at most 300 ms', { timeout: 1_200_000 }, async () => {
  const vm = await carryOut('POST', '/vms', {
    ...{ name: 'bench', type: VM_TYPE, location: LOCATION, image: 'tiny' },
    ssh_public_key:
      'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGnZ0P5QvE0y4tH0zvYt0rR0lKqM3p5D0m5lqDkZ5sYx me',
  });
  const host = await cloud.hostOf(vm.id);
  const { socketPath } = host.libvirtd;
  // Firmware releases disks at once, unlike a guest that has booted.
  const guest = await openGuestShell({ socketPath, domain: `gantry-${vm.id}` });
  await expect.poll(() => guest.run('echo up').catch(String)).toBe('up\n');
  await guest.close();
  const http: Times[] = [];
  // The first round warms up.
  for (let round = 0; round <= ROUNDS; round++) http.push(await overHttp(vm, round));
  const last = await makeDisk('last');
  await attach(vm, last);
  // Its agent would attach the disk again.
  await host.agent.kill();
  const disk = await openOwnDisk({ socketPath, domain: `gantry-${vm.id}`, id: last.id });
  const own: Times[] = [];
  try {
    for (let round = 0; round <= ROUNDS; round++) own.push(await byItself(disk, round));
  } finally {
    await disk.close();
  }
  const figure = (times: Times[], step: keyof Times) =>
    median(times.slice(1).map((each) => each[step]));
  for (const step of STEPS) {
    const program = ['attach', 'grow', 'detach'].includes(step) ? 'libvirt' : 'rbd';
    row(`${step} over HTTP, median of ${ROUNDS}`, figure(http, step), 'ms');
    row(`  ${program} by itself`, figure(own, step), 'ms');
    row('  added', figure(http, step) - figure(own, step), 'ms', GOAL);
  }
  expect(missedGoals()).toBe(0);
});
