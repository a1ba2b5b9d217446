import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { type CephCloud, startCephCloud } from '@gantry/testkit/ceph/ceph-cloud';
import { execute } from '@gantry/testkit/real-host/execute';
import { enterGuest, type GuestShell } from '@gantry/testkit/real-host/guest/guest-shell';
import { LOCATION, type RealHost, VM_TYPE } from '@gantry/testkit/real-host/real-cloud';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectNothingLeft, listKeys } from './storage-checks.ts';

/** As the API shows it. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into replies freely
type Shown = any;

const RECORD_BYTES = 512;
const POOL = 'volumes';
/** No operation waits longer than this for a cluster that does not reply: 5 s for QEMU, and retries of the agent. */
const SOON_MS = 60_000;
const PATIENCE = { timeout: 120_000 };

/** The pool of all disks is on the first two OSDs, and another one on the third. */
const [OSDS, OTHER_POOL] = [[0, 1], 'others'];

/** One guest with a data disk, on a cluster that keeps two copies of everything. */
let cloud: CephCloud;
let vm: Shown;
let host: RealHost;
let guest: GuestShell;
let disk: Shown;

const carryOut = async (method: string, path: string, body?: object): Promise<Shown> => {
  const operation = await cloud.client.ended(await cloud.client.open(method, path, body));
  expect(operation).toMatchObject({ state: 'SUCCEEDED' });
  return operation.result;
};
const begin = (method: string, path: string, body?: object) =>
  cloud.client.open(method, path, body);
const makeDisk = (name: string) =>
  carryOut('POST', '/disks', { name, size: '1GiB', location: LOCATION });
const attachBody = ({ id }: Shown) => ({ attach_disks: [{ disk_id: id, mode: 'read-write' }] });
const attach = (each: Shown) => carryOut('POST', `/vms/${vm.id}/attach-disks`, attachBody(each));
const detach = (each: Shown) =>
  carryOut('POST', `/vms/${vm.id}/detach-disks`, { detach_disks: [each.id] });
const rbd = (...args: string[]) => cloud.ceph.run('rbd', ...args);
const deviceOf = async ({ serial_number }: Shown) =>
  `/dev/${(await guest.run(`grep -l ${serial_number} /sys/block/vd*/serial`)).split('/')[3]}`;
const poolProblem = async () =>
  (await cloud.client.admin('GET', `/storage/pools/${cloud.poolId}`)).body.problem;
const withoutMonitor = async <T>(work: () => Promise<T>): Promise<T> => {
  cloud.ceph.mon.suspend();
  try {
    return await work();
  } finally {
    cloud.ceph.mon.resume();
  }
};

const enter = async () => {
  guest = await enterGuest(host, vm.id);
};

/** Writes numbered records with fsync, one after the other, until `/run/enough` exists. */
const beginWriting = async () => {
  await guest.run('rm -f /run/enough /run/acknowledged /run/ended');
  await guest.begin(`i=0; while [ ! -e /run/enough ]; do i=$((i + 1));
    printf '%0${RECORD_BYTES}d' $i | dd of=${await deviceOf(disk)} bs=${RECORD_BYTES} seek=$i conv=fsync,notrunc 2>/dev/null || break;
    echo $i >/run/acknowledged; done; echo $i >/run/ended`);
  await expect.poll(acknowledged).toBeGreaterThan(3);
};
const acknowledged = async () => Number(await guest.run('cat /run/acknowledged').catch(() => '0'));
/** Ends the writing and reads every record from the cluster itself, not from a cache of the guest. */
const expectEveryRecord = async () => {
  await guest.run('touch /run/enough');
  await expect.poll(() => guest.run('cat /run/ended').catch(String)).toMatch(/^\d+\n$/);
  const count = await acknowledged();
  expect(Number(await guest.run('cat /run/ended'))).toBe(count);
  const file = `${cloud.ceph.directory}/records.raw`;
  const end = (count + 1) * RECORD_BYTES;
  await rbd('export', '--no-progress', `${POOL}/${disk.id}`, file);
  const text = await cloud.ceph.run('head', '-c', String(end), file);
  await cloud.ceph.run('rm', file);
  for (let record = 1; record <= count; record++) {
    const from = record * RECORD_BYTES;
    expect(Number(text.slice(from, from + RECORD_BYTES))).toBe(record);
  }
};

/** Gives the pools OSDs of their own, as pools on drives of different kinds have. */
const separatePools = async () => {
  const commands = [
    ...['osd crush rm-device-class all', 'osd crush set-device-class main 0 1'],
    ...['osd crush set-device-class other 2', `osd pool create ${OTHER_POOL} 8`],
    ...['main', 'other'].map(
      (name) => `osd crush rule create-replicated ${name} default osd ${name}`,
    ),
    ...[`osd pool set ${POOL} crush_rule main`, `osd pool set ${OTHER_POOL} crush_rule other`],
    ...[
      `osd pool set ${OTHER_POOL} size 1 --yes-i-really-mean-it`,
      `osd pool application enable ${OTHER_POOL} rbd`,
    ],
  ];
  // A start of `ceph` takes half a second, so one runs all commands.
  await cloud.ceph.run('sh', '-c', 'printf "%s\n" "$@" | ceph', 'sh', ...commands);
  await rbd('pool', 'init', OTHER_POOL);
};

/** Creates a disk in the other pool, which no other disk gets. */
const makeDiskElsewhere = async (name: string): Promise<Shown> => {
  const path = `/storage/pools/${cloud.poolId}`;
  const { storage_cluster_id } = (await cloud.client.admin('GET', path)).body;
  const other = await cloud.client.admin('POST', '/storage/pools', {
    ...{ storage_cluster_id, name: OTHER_POOL, location: LOCATION, disk_type: 'persistent-ssd' },
  });
  expect(other).toMatchObject({ status: 200 });
  const setActive = async (poolId: string, active: boolean) =>
    expect(await cloud.client.admin('PATCH', `/storage/pools/${poolId}`, { active })).toMatchObject(
      {
        status: 200,
      },
    );
  await setActive(cloud.poolId, false);
  const made = await makeDisk(name);
  await setActive(cloud.poolId, true);
  await setActive(other.body.id, false);
  expect(await rbd('ls', OTHER_POOL)).toBe(`${made.id}\n`);
  return made;
};

beforeAll(async () => {
  cloud = await startCephCloud(['one'], { osds: 3, copies: 2 });
  await separatePools();
  vm = await carryOut('POST', '/vms', {
    ...{ name: 'one', type: VM_TYPE, location: LOCATION, image: 'tiny' },
    ssh_public_key:
      'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGnZ0P5QvE0y4tH0zvYt0rR0lKqM3p5D0m5lqDkZ5sYx me',
  });
  host = await cloud.hostOf(vm.id);
  disk = await makeDisk('data');
  await attach(disk);
  await enter();
});
afterAll(async () => {
  await guest?.close();
  await cloud?.stop();
});

describe('a guest that writes', () => {
  it('goes on without a lost record when an OSD is killed and started again', async () => {
    const [, osd] = cloud.ceph.osds;
    await beginWriting();
    await osd?.kill();
    const before = await acknowledged();
    await expect.poll(acknowledged, PATIENCE).toBeGreaterThan(before + 3);
    osd?.start();
    const isUp = async () =>
      JSON.parse(await cloud.ceph.run('ceph', 'osd', 'stat', '--format', 'json'));
    await expect.poll(async () => (await isUp()).num_up_osds, PATIENCE).toBe(3);
    const after = await acknowledged();
    await expect.poll(acknowledged, PATIENCE).toBeGreaterThan(after + 3);
    await expectEveryRecord();
  });

  it('waits while its pool is full, which operators see, and goes on when there is space; its disk in another pool does not wait', async () => {
    const elsewhere = await makeDiskElsewhere('elsewhere');
    await attach(elsewhere);
    const other = await deviceOf(elsewhere);
    await beginWriting();
    await cloud.ceph.setFull(true, OSDS);
    await expect.poll(poolProblem).toContain('full');
    const waiting = await acknowledged();
    await guest.run(
      `seq 2000 >/run/text; dd if=/run/text of=${other} conv=fsync,notrunc 2>/dev/null`,
    );
    const bytes = Number(await guest.run('wc -c </run/text'));
    expect(await guest.run(`head -c ${bytes} ${other} | cmp - /run/text && echo same`)).toBe(
      'same\n',
    );
    expect(await acknowledged()).toBe(waiting);
    const { body } = await cloud.client.call('GET', `/vms/${vm.id}`);
    expect(body).toMatchObject({ state: 'STATE_RUNNING' });
    await cloud.ceph.setFull(false, OSDS);
    await expect.poll(acknowledged, PATIENCE).toBeGreaterThan(waiting + 3);
    await expectEveryRecord();
  });
});

describe('while no monitor replies', () => {
  it('a detach completes, and the key is removed when the monitor is back', async () => {
    const other = await makeDisk('detached');
    await attach(other);
    await withoutMonitor(() => detach(other));
    await expectNothingLeft(cloud);
    await carryOut('DELETE', `/disks/${other.id}`);
  });

  it('a growth completes, because it needs only OSDs', async () => {
    await withoutMonitor(() => carryOut('PATCH', `/disks/${disk.id}`, { size: '2GiB' }));
    const { size } = JSON.parse(await rbd('info', `${POOL}/${disk.id}`, '--format', 'json'));
    expect(size).toBe(2 ** 31);
    const name = (await deviceOf(disk)).slice('/dev/'.length);
    expect(await guest.run(`cat /sys/block/${name}/size`)).toBe(`${2 ** 31 / 512}\n`);
  });

  it('a deletion completes when the monitor is back', async () => {
    const other = await makeDisk('deleted');
    // A key that was interrupted while it was made is removed after a minute.
    await expectNothingLeft(cloud);
    await withoutMonitor(async () => {
      await carryOut('DELETE', `/disks/${other.id}`);
      expect((await cloud.client.call('GET', `/disks/${other.id}`)).status).toBe(404);
    });
    await expectNothingLeft(cloud);
  });
});

it.each([
  ['was removed from the cluster', () => []],
  [
    'is not the one that the cluster has',
    (entity: string) => ['auth', 'add', entity, 'mon', 'allow r'],
  ],
])(
  'an attachment whose key %s fails within its limit, the VM goes on, and nothing is left',
  async (_, replacing) => {
    const other = await makeDisk('keyless');
    const keyOf = async () =>
      (await listKeys(cloud)).find((entity) => entity.includes(other.id)) ?? '';
    await expect.poll(keyOf).not.toBe('');
    const entity = await keyOf();
    await cloud.ceph.run('ceph', 'auth', 'rm', entity);
    const replace = replacing(entity);
    if (replace.length > 0) await cloud.ceph.run('ceph', ...replace);
    const begun = performance.now();
    const operation = await cloud.client.ended(
      await begin('POST', `/vms/${vm.id}/attach-disks`, attachBody(other)),
    );
    expect(performance.now() - begun).toBeLessThan(SOON_MS);
    expect(operation).toMatchObject({
      state: 'FAILED',
      result: { code: 'storage_denied', message: expect.stringContaining('key of the volume') },
    });
    expect(await guest.run('echo alive')).toBe('alive\n');
    expect((await volumesOfDomain()).length).toBe(3);
    const holders = async () => (await cloud.client.call('GET', `/disks/${other.id}`)).body.vm_ids;
    await expect.poll(holders, PATIENCE).toEqual([]);
    await carryOut('DELETE', `/disks/${other.id}`);
    const secrets = () => host.libvirtd.run('virsh', 'secret-list');
    await expect.poll(secrets, PATIENCE).not.toContain(other.id);
    await expectNothingLeft(cloud);
  },
);

it('a host that reboots starts its VM with the volumes that it had, and each has one client', async () => {
  await guest.close();
  await host.agent.kill();
  const pid = await execute('pgrep', '-f', `guest=gantry-${vm.id}`);
  process.kill(Number(pid), 'SIGKILL');
  const boot = (await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).trim();
  await execute(
    'sh',
    '-c',
    `grep -rl ${boot} ${host.stateDirectory} | xargs sed -i s/${boot}/${randomUUID()}/g`,
  );
  await host.startAgent();
  await expect.poll(async () => (await volumesOfDomain()).length, PATIENCE).toBe(3);
  await expect.poll(() => cloud.client.stateOf(vm.id), PATIENCE).toBe('STATE_RUNNING');
  await expectNothingLeft(cloud);
  // The pool has had space for a while.
  await expect.poll(poolProblem).toBe('');
});

const volumesOfDomain = async () => {
  const xml = await host.libvirtd.run('virsh', 'dumpxml', `gantry-${vm.id}`).catch(() => '');
  return xml.match(/<source protocol='rbd'/g) ?? [];
};
