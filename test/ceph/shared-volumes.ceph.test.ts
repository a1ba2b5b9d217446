import { type CephCloud, startCephCloud } from '@gantry/testkit/ceph/ceph-cloud';
import { type Client, connectToNewProject } from '@gantry/testkit/processes/client';
import { enterGuest, type GuestShell } from '@gantry/testkit/real-host/guest/guest-shell';
import { LOCATION, type RealHost, VM_TYPE } from '@gantry/testkit/real-host/real-cloud';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

/** As the API shows it. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into replies freely
type Shown = any;
/** A VM, its host, and where the host has mounted the share. */
type Machine = { vm: Shown; host: RealHost; path: string };

const PATIENCE_MS = 120_000;
/** A host counts as lost after a while, and everything is slow on a busy machine. */
const PATIENCE = { timeout: PATIENCE_MS };
/** How much more than its size a guest may have stored when it is refused: what it writes in some seconds. */
const EXCESS_MIB = 256;

/**
 * Two hosts with a VM each, whose guests mount the share. The guests of later VMs are not waited for: programs read and write
 * in the directory that virtiofsd of such a VM serves, as virtiofsd does for its guest.
 */
describe('a shared volume in a storage cluster', () => {
  let cloud: CephCloud;
  let disk: Shown;
  let one: Machine;
  let two: Machine;
  /** The guests of the first VMs on both hosts. They have mounted the share at /mnt. */
  let guestOne: GuestShell;
  let guestTwo: GuestShell;
  const shells: GuestShell[] = [];

  beforeAll(async () => {
    cloud = await startCephCloud(['one', 'two'], { hasShares: true });
  });
  afterAll(async () => {
    for (const shell of shells) await shell.close();
    await cloud?.stop();
  });

  const endedFor = async (client: Client, method: string, path: string, body?: object) => {
    const operation = await client.ended(await client.open(method, path, body));
    expect(operation).toMatchObject({ state: 'SUCCEEDED' });
    return operation.result;
  };
  const ended = (method: string, path: string, body?: object) =>
    endedFor(cloud.client, method, path, body);
  const enter = async (host: RealHost, vm: Shown) => {
    const shell = await enterGuest(host, vm.id);
    shells.push(shell);
    return shell;
  };
  const mountIn = async ({ host, vm }: Machine) => {
    const guest = await enter(host, vm);
    await guest.run(`mount -t virtiofs ${disk.id} /mnt`);
    return guest;
  };
  const idOf = async ({ name }: RealHost): Promise<string> => {
    const { body } = await cloud.client.admin('GET', '/hosts');
    return body.items.find((each: Shown) => each.name === name).id;
  };
  const makeDisk = (client: Client) =>
    endedFor(client, 'POST', '/disks', {
      ...{ name: 'shared', size: '1GiB', location: LOCATION, type: 'shared-volume' },
    });
  const createVm = (client: Client, name: string, diskId: string) =>
    endedFor(client, 'POST', '/vms', {
      ...{ name, type: VM_TYPE, location: LOCATION, image: 'tiny' },
      disks: [{ disk_id: diskId, mode: 'read-write' }],
      ssh_public_key:
        'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGnZ0P5QvE0y4tH0zvYt0rR0lKqM3p5D0m5lqDkZ5sYx me',
    });
  const mountsOf = async ({ libvirtd }: RealHost): Promise<string[]> => {
    const text = await libvirtd.run('cat', '/proc/self/mountinfo');
    const lines = text.split('\n').filter((line) => line.includes(' fuse.ceph-fuse '));
    return lines.map((line) => line.split(' ')[4] ?? '');
  };
  /** Finds the directory that the running domain of the VM has. */
  const locate = async (vm: Shown): Promise<Machine> => {
    const host = await cloud.hostOf(vm.id);
    const xml = await host.libvirtd.run('virsh', 'dumpxml', `gantry-${vm.id}`);
    const [, path = ''] = /<source dir='([^']*)'/.exec(xml) ?? [];
    expect(await mountsOf(host)).toEqual([path]);
    return { vm, host, path };
  };
  /** Does the work while VMs are placed on this host only. */
  const onlyOn = async <T>(host: RealHost, work: () => Promise<T>): Promise<T> => {
    const others = cloud.hosts.filter((each) => each !== host);
    const turn = async (action: string) => {
      for (const other of others)
        await cloud.client.admin('POST', `/hosts/${await idOf(other)}:${action}`);
    };
    await turn('cordon');
    const done = await work();
    await turn('uncordon');
    return done;
  };
  /** Creates a VM with the share on this host. */
  const createOn = async (host: RealHost, name: string): Promise<Machine> => {
    const vm = await onlyOn(host, () => createVm(cloud.client, name, disk.id));
    const machine = await locate(vm);
    expect(machine.host.name).toBe(host.name);
    return machine;
  };
  const run = ({ host, path }: Machine, script: string) =>
    host.libvirtd.run('sh', '-c', `cd "$1" && ${script}`, 'sh', path);
  const keysOf = async () =>
    (await cloud.ceph.run('ceph', 'auth', 'ls')).match(/^client\.gantry-.*$/gm) ?? [];

  it('is network storage, and VMs on different hosts get it', async () => {
    disk = await makeDisk(cloud.client);
    expect(disk).toMatchObject({ storage: 'network', state: 'ready' });
    const [first, second] = cloud.hosts;
    if (!first || !second) throw new Error('BUG: there are fewer than two hosts');
    [one, two] = [await createOn(first, 'first'), await createOn(second, 'second')];
    for (const { host, path } of [one, two]) {
      const processes = await host.libvirtd.processes();
      const serves = processes.filter(
        ({ command }) => command[0]?.endsWith('virtiofsd') && command.join(' ').includes(path),
      );
      expect(serves.length).toBeGreaterThan(0);
    }
  });

  it('shows what the guest of one host has written with fsync to the guest of the other', async () => {
    [guestOne, guestTwo] = await Promise.all([mountIn(one), mountIn(two)]);
    const write = (guest: GuestShell, text: string) =>
      guest.run(`echo ${text} | dd of=/mnt/text oflag=append conv=fsync,notrunc`);
    await write(guestOne, 'from one');
    expect(await guestTwo.run('cat /mnt/text')).toBe('from one\n');
    await write(guestTwo, 'and from two');
    // The guest may keep the size of a file for a second.
    await expect.poll(() => guestOne.run('cat /mnt/text')).toBe('from one\nand from two\n');
  });

  it('refuses what a guest writes beyond the size of the disk, until the disk grows', async () => {
    const size = () => guestOne.run("df -m -P /mnt | awk 'END { print $2 }'");
    expect(await size()).toBe('1024\n');
    const write = (from: number) =>
      `dd if=/dev/zero of=/mnt/large bs=1M seek=${from} count=1 conv=fsync,notrunc`;
    await expect(guestOne.run(write(1_040))).rejects.toThrow('Disk quota exceeded');
    await guestOne.run(write(1_000));
    const most = 1_024 + EXCESS_MIB;
    const filled = await guestOne.run(`i=1001
      while [ $i -le ${most} ] && dd if=/dev/zero of=/mnt/large bs=1M seek=$i count=1 conv=fsync,notrunc 2>/run/why; do
        i=$((i + 1))
      done
      echo $i; cat /run/why`);
    expect(filled).toContain('Disk quota exceeded');
    const mib = Number.parseInt(filled, 10);
    expect(mib).toBeGreaterThanOrEqual(1_023);
    process.stdout.write(`A guest was refused after ${mib} of 1024 MiB.\n`);
    const writeMore = () => guestTwo.run('dd if=/dev/zero of=/mnt/more bs=1M count=4 conv=fsync');
    await expect.poll(() => writeMore().catch(String)).toContain('Disk quota exceeded');
    await ended('PATCH', `/disks/${disk.id}`, { size: '2GiB' });
    await expect.poll(size).toBe('2048\n');
    await guestOne.run(`${write(mib + 1)} && rm /mnt/large`);
  });

  it('is mounted again for a VM that starts after ceph-fuse has ended', async () => {
    const { host, vm } = two;
    await host.libvirtd.run('pkill', '-KILL', '-x', 'ceph-fuse');
    await expect(guestTwo.run('echo lost > /mnt/lost')).rejects.toThrow();
    await ended('DELETE', `/vms/${vm.id}`);
    two = await createOn(host, 'third');
    expect(await run(two, 'cat text')).toBe('from one\nand from two\n');
  });

  it('is not seen by the guest of another project on the same host', async () => {
    const { host } = one;
    const stranger = await connectToNewProject(cloud.processes, cloud, { patienceMs: PATIENCE_MS });
    expect(await stranger.call('GET', `/disks/${disk.id}`)).toMatchObject({ status: 404 });
    const own = await makeDisk(stranger);
    const vm = await onlyOn(host, () => createVm(stranger, 'stranger', own.id));
    const attach_disks = [{ disk_id: disk.id, mode: 'read-write' }];
    const attached = await stranger.call('POST', `/vms/${vm.id}/attach-disks`, { attach_disks });
    expect(attached).toMatchObject({ status: 404 });
    const guest = await enter(host, vm);
    await expect(guest.run(`mount -t virtiofs ${disk.id} /mnt`)).rejects.toThrow();
    await guest.run(`mount -t virtiofs ${own.id} /mnt`);
    expect(await guest.run('ls -A /mnt')).toBe('');
    await guest.run('echo mine | dd of=/mnt/text conv=fsync');
    expect(await guestOne.run('cat /mnt/text')).toBe('from one\nand from two\n');
    await endedFor(stranger, 'DELETE', `/vms/${vm.id}`);
    await endedFor(stranger, 'DELETE', `/disks/${own.id}`);
    await expect.poll(() => mountsOf(host), PATIENCE).toEqual([one.path]);
  });

  it('has a key of its own on each host, and none is left in a file', async () => {
    for (const { host } of [one, two]) {
      const files = await host.libvirtd.run('find', '/run/gantry-agent', '-xdev', '-type', 'f');
      expect(files).toBe('');
    }
    const keys = await cloud.processes.sql`select entity from volume_keys
      where disk_id = ${disk.id} and host_id is not null and not revoked`;
    expect(keys).toHaveLength(2);
    expect(one.path).not.toBe(two.path);
  });

  it('stays mounted while the agent is killed, until no VM of the host has it', async () => {
    const { host, vm } = one;
    await host.agent.kill();
    await guestOne.run('echo alone | dd of=/mnt/alone conv=fsync');
    expect(await run(two, 'cat alone')).toBe('alone\n');
    await host.startAgent();
    await ended('DELETE', `/vms/${vm.id}`);
    await expect.poll(() => mountsOf(host), PATIENCE).toEqual([]);
    one = await createOn(host, 'fourth');
    expect(await run(one, 'cat text')).toBe('from one\nand from two\n');
  });

  it('leaves no object and no key behind when it is deleted', async () => {
    for (const { vm } of [two, one]) await ended('DELETE', `/vms/${vm.id}`);
    await ended('DELETE', `/disks/${disk.id}`);
    const discarded = async () => (await cloud.processes.sql`select from discarded_volumes`).length;
    await expect.poll(discarded, PATIENCE).toBe(0);
    await expect.poll(async () => (await keysOf()).length, PATIENCE).toBe(0);
    const objects = () => cloud.ceph.run('rados', '-p', 'shares', 'ls', '--all');
    await expect.poll(objects, PATIENCE).not.toContain(disk.id);
  });
});
