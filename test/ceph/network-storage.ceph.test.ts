import { readFileSync } from 'node:fs';
import { type CephCloud, startCephCloud } from '@gantry/testkit/ceph/ceph-cloud';
import { execute } from '@gantry/testkit/real-host/execute';
import {
  enterGuest,
  type GuestShell,
  openGuestShell,
} from '@gantry/testkit/real-host/guest/guest-shell';
import { UPLINK } from '@gantry/testkit/real-host/outside';
import { LOCATION, type RealHost, VM_TYPE } from '@gantry/testkit/real-host/real-cloud';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

/** As the API shows it. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into replies freely
type Shown = any;

const RECORD_BYTES = 512;
/** A host counts as lost after a while, and an emulated guest boots slowly. */
const PATIENCE = { timeout: 300_000 };

describe('a VM whose disks are in a storage cluster', () => {
  let cloud: CephCloud;
  let vm: Shown;
  let disk: Shown;
  let host: RealHost;
  let guest: GuestShell;

  beforeAll(async () => {
    cloud = await startCephCloud(['one', 'two']);
  });
  afterAll(async () => {
    await cloud?.stop();
  });

  const ended = async (method: string, path: string, body?: object) => {
    const operation = await cloud.client.ended(await cloud.client.open(method, path, body));
    expect(operation).toMatchObject({ state: 'SUCCEEDED' });
    return operation.result;
  };
  const act = (action: string) => ended('PATCH', `/vms/${vm.id}`, { action });
  const rbd = (...args: string[]) => cloud.ceph.run('rbd', ...args);
  const other = () => {
    const found = cloud.hosts.find(({ name }) => name !== host.name);
    if (!found) throw new Error('BUG: there is one host only');
    return found;
  };
  const idOf = async ({ name }: RealHost): Promise<string> => {
    const { body } = await cloud.client.admin('GET', '/hosts');
    return body.items.find((each: Shown) => each.name === name).id;
  };
  /** Connects to the guest. Asks all hosts where it runs, unless the host is known. */
  const enter = async (on?: RealHost) => {
    host = on ?? (await cloud.hostOf(vm.id));
    guest = await enterGuest(host, vm.id);
  };
  /** The path of the data disk in the guest, which knows it by its serial number. */
  const device = async () => {
    const found = await guest.run(`grep -l ${disk.serial_number} /sys/block/vd*/serial`);
    return `/dev/${found.split('/')[3]}`;
  };
  const domainXml = (on: RealHost) => on.libvirtd.run('virsh', 'dumpxml', `gantry-${vm.id}`);
  const keysOf = async () =>
    (await cloud.ceph.run('ceph', 'auth', 'ls')).match(/^client\.gantry-.*$/gm) ?? [];

  it('starts from a clone of the image, which copies nothing', async () => {
    vm = await ended('POST', '/vms', {
      ...{ name: 'first', type: VM_TYPE, location: LOCATION, image: 'tiny' },
      ssh_public_key:
        'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGnZ0P5QvE0y4tH0zvYt0rR0lKqM3p5D0m5lqDkZ5sYx me',
      on_host_failure: 'restart',
    });
    expect(vm).toMatchObject({ state: 'STATE_RUNNING' });
    await enter();
    expect(await domainXml(host)).toContain(
      `<source protocol='rbd' name='volumes/${vm.disks[0].id}'`,
    );
    const { parent } = JSON.parse(
      await rbd('info', `volumes/${vm.disks[0].id}`, '--format', 'json'),
    );
    expect(parent.image).toMatch(/^image-/);
  });

  it('gets a disk while it runs, and sees it grow', async () => {
    disk = await ended('POST', '/disks', { name: 'data', size: '1GiB', location: LOCATION });
    const attach_disks = [{ disk_id: disk.id, mode: 'read-write' }];
    await ended('POST', `/vms/${vm.id}/attach-disks`, { attach_disks });
    const name = (await device()).slice('/dev/'.length);
    const sectors = () => guest.run(`cat /sys/block/${name}/size`);
    expect(await sectors()).toBe(`${2 ** 30 / 512}\n`);
    await ended('PATCH', `/disks/${disk.id}`, { size: '2GiB' });
    expect(await sectors()).toBe(`${2 ** 31 / 512}\n`);
  });

  it('is frozen for a snapshot, and limited by an operator while it runs', async () => {
    const start = performance.now();
    const body = { name: 'frozen', disk_id: disk.id, freeze: true };
    const snapshot = await ended('POST', '/snapshots', body);
    const ms = Math.round(performance.now() - start);
    expect(snapshot).toMatchObject({ state: 'ready', problem: '' });
    process.stdout.write(`A snapshot of a frozen guest: ${ms} ms.\n`);
    // A guest that is frozen cannot run a command.
    expect(await guest.run('echo thawed')).toBe('thawed\n');
    await ended('DELETE', `/snapshots/${snapshot.id}`);
    const limit = (limits: object) =>
      cloud.client.admin('PUT', '/storage/disk-limits/persistent-ssd', limits);
    const limits = async () =>
      (await domainXml(host)).match(/<total_iops_sec>\d+/g)?.map((each) => each.slice(16));
    await limit({ total_iops: 1_000, iops_per_gib: 10 });
    await expect.poll(limits).toContain('1020');
    expect(await limits()).toHaveLength(2);
    await limit({});
    await expect.poll(limits).toBeUndefined();
  });

  it('starts on another host after a stop, with its data', async () => {
    await guest.run(`echo before the stop | dd of=${await device()} conv=fsync,notrunc`);
    const first = host;
    await guest.close();
    await act('STOP');
    await cloud.client.admin('POST', `/hosts/${await idOf(first)}:cordon`);
    await act('START');
    await enter();
    expect(host.name).not.toBe(first.name);
    expect(await guest.run(`dd if=${await device()} bs=16 count=1`)).toContain('before the stop');
    await cloud.client.admin('POST', `/hosts/${await idOf(first)}:uncordon`);
  });

  it('has keys on its host only, one for each disk', async () => {
    const keys = await cloud.processes.sql<{ entity: string }[]>`
      select entity from volume_keys where host_id = ${await idOf(host)} and not revoked`;
    expect(keys).toHaveLength(2);
    await expect
      .poll(async () => (await keysOf()).toSorted())
      .toEqual(keys.map(({ entity }) => `client.${entity}`).toSorted());
  });

  it('restarts elsewhere with every acknowledged record when its host is cut off and fenced', async () => {
    const target = await device();
    await guest.begin(`i=0; while :; do i=$((i + 1));
      printf '%0${RECORD_BYTES}d' $i | dd of=${target} bs=${RECORD_BYTES} seek=$i conv=fsync,notrunc 2>/dev/null || break;
      echo $i >/run/acknowledged; done; echo refused >/run/ended`);
    await expect
      .poll(() => guest.run('cat /run/acknowledged').catch(() => '0'))
      .toMatch(/^\d{2,}\n$/);
    const acknowledged = Number(await guest.run('cat /run/acknowledged'));
    const dead = host;
    await guest.close();
    const pids = (await execute('ip', 'netns', 'pids', dead.namespace))
      .trim()
      .split('\n')
      .map(Number);
    for (const pid of pids) process.kill(pid, 'SIGSTOP');
    await execute('ip', '-n', dead.namespace, 'link', 'set', UPLINK, 'down');
    await expect.poll(async () => (await show()).state, PATIENCE).toBe('STATE_UNREACHABLE');

    const startedAt = performance.now();
    const fenced = await cloud.client.admin('POST', `/hosts/${await idOf(dead)}:fence`, {
      confirm: dead.name,
    });
    expect(fenced).toMatchObject({ status: 200 });
    await expect.poll(async () => (await show()).state, PATIENCE).toBe('STATE_RUNNING');
    const ms = Math.round(performance.now() - startedAt);
    process.stdout.write(`From the fence until the VM runs elsewhere: ${ms} ms.\n`);

    await enter(other());
    const records = await guest.run(
      `dd if=${await device()} bs=${RECORD_BYTES} skip=1 count=${acknowledged} 2>/dev/null`,
    );
    for (let record = 1; record <= acknowledged; record++) {
      const from = (record - 1) * RECORD_BYTES;
      expect(Number(records.slice(from, from + RECORD_BYTES))).toBe(record);
    }

    const checksum = async () =>
      (await cloud.ceph.run('sh', '-c', `rbd export volumes/${disk.id} - | sha256sum`)).trim();
    const before = await checksum();
    await execute('ip', '-n', dead.namespace, 'link', 'set', UPLINK, 'up');
    const qemus = pids.filter((pid) => isQemu(pid));
    expect(qemus.length).toBeGreaterThan(0);
    for (const pid of pids) process.kill(pid, 'SIGCONT');
    // The old guest goes on with its next record, and gets an error instead.
    const old = await openGuestShell({
      socketPath: dead.libvirtd.socketPath,
      domain: `gantry-${vm.id}`,
    });
    await expect.poll(() => old.run('cat /run/ended').catch(String), PATIENCE).toBe('refused\n');
    await old.close();
    expect(await checksum()).toBe(before);
  });

  it('leaves no volume, no key and no watcher behind', async () => {
    await ended('DELETE', `/vms/${vm.id}`);
    await ended('DELETE', `/disks/${disk.id}`);
    const volumes = async () => JSON.parse(await rbd('ls', 'volumes', '--format', 'json'));
    await expect
      .poll(async () => (await volumes()).filter((name: string) => !name.startsWith('image-')))
      .toEqual([]);
    await expect.poll(keysOf).toEqual([]);
  });

  const show = async (): Promise<Shown> => (await cloud.client.call('GET', `/vms/${vm.id}`)).body;
});

function isQemu(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('qemu-system');
  } catch {
    return false;
  }
}
