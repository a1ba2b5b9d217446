import { type CephCloud, startCephCloud } from '@gantry/testkit/ceph/ceph-cloud';
import { LOCATION, type RealHost, VM_TYPE } from '@gantry/testkit/real-host/real-cloud';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

/** As the API shows it. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into replies freely
type Shown = any;
/** A VM, its host, and where the host has mounted the share. */
type Machine = { vm: Shown; host: RealHost; path: string };

/** A host counts as lost after a while, and everything is slow on a busy machine. */
const PATIENCE = { timeout: 120_000 };

/**
 * Two hosts with a VM each. Programs read and write in the directory that virtiofsd of the VM serves, as virtiofsd does for
 * its guest.
 */
describe('a shared volume in a storage cluster', () => {
  let cloud: CephCloud;
  let disk: Shown;
  let one: Machine;
  let two: Machine;

  beforeAll(async () => {
    cloud = await startCephCloud(['one', 'two'], { hasShares: true });
  });
  afterAll(async () => {
    await cloud?.stop();
  });

  const ended = async (method: string, path: string, body?: object) => {
    const operation = await cloud.client.ended(await cloud.client.open(method, path, body));
    expect(operation).toMatchObject({ state: 'SUCCEEDED' });
    return operation.result;
  };
  const idOf = async ({ name }: RealHost): Promise<string> => {
    const { body } = await cloud.client.admin('GET', '/hosts');
    return body.items.find((each: Shown) => each.name === name).id;
  };
  const createVm = (name: string) =>
    ended('POST', '/vms', {
      ...{ name, type: VM_TYPE, location: LOCATION, image: 'tiny' },
      disks: [{ disk_id: disk.id, mode: 'read-write' }],
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
  /** Creates a VM with the share on this host. */
  const createOn = async (host: RealHost, name: string): Promise<Machine> => {
    const others = cloud.hosts.filter((each) => each !== host);
    const turn = async (action: string) => {
      for (const other of others)
        await cloud.client.admin('POST', `/hosts/${await idOf(other)}:${action}`);
    };
    await turn('cordon');
    const machine = await locate(await createVm(name));
    await turn('uncordon');
    expect(machine.host.name).toBe(host.name);
    return machine;
  };
  const run = ({ host, path }: Machine, script: string) =>
    host.libvirtd.run('sh', '-c', `cd "$1" && ${script}`, 'sh', path);
  const keysOf = async () =>
    (await cloud.ceph.run('ceph', 'auth', 'ls')).match(/^client\.gantry-.*$/gm) ?? [];

  it('is network storage, and VMs on different hosts get it', async () => {
    disk = await ended('POST', '/disks', {
      ...{ name: 'shared', size: '1GiB', location: LOCATION, type: 'shared-volume' },
    });
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

  it('shows what is written on one host to the other', async () => {
    await run(one, 'echo from one > text && sync text');
    await expect.poll(() => run(two, 'cat text')).toBe('from one\n');
    await run(two, 'echo and from two >> text && sync text');
    await expect.poll(() => run(one, 'cat text')).toBe('from one\nand from two\n');
  });

  it('has the size of the disk, which cannot be exceeded until the disk grows', async () => {
    const size = () => run(one, "df -m . | awk 'END { print $2 }'");
    const fill = () =>
      run(one, 'dd if=/dev/zero of=large bs=1M seek=1040 count=8 conv=fsync 2>&1 || :');
    expect(await size()).toBe('1024\n');
    expect(await fill()).toMatch(/quota exceeded/i);
    await ended('PATCH', `/disks/${disk.id}`, { size: '2GiB' });
    await expect.poll(size).toBe('2048\n');
    expect(await fill()).not.toMatch(/quota exceeded/i);
    await run(one, 'rm large');
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
    expect(await run(one, 'cat text')).toContain('from one');
    await host.startAgent();
    await ended('DELETE', `/vms/${vm.id}`);
    await expect.poll(() => mountsOf(host), PATIENCE).toEqual([]);
    one = await createOn(host, 'third');
    expect(await run(one, 'cat text')).toBe('from one\nand from two\n');
  });

  it('is mounted again for a VM that starts after ceph-fuse has ended', async () => {
    const { host } = one;
    await host.libvirtd.run('pkill', '-KILL', '-x', 'ceph-fuse');
    await expect(run(one, 'cat text')).rejects.toThrow();
    await ended('DELETE', `/vms/${one.vm.id}`);
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
