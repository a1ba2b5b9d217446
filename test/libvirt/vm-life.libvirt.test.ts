import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { MIB } from '@gantry/daemon/units';
import { execute } from '@gantry/testkit/real-host/execute';
import { VIRTIOFSD_CAPABILITIES } from '@gantry/testkit/real-host/file-systems/virtiofsd-rights';
import { gantryIn } from '@gantry/testkit/real-host/guest/run-gantry';
import { makeSshKey, type SshKey } from '@gantry/testkit/real-host/guest/ssh';
import { leftovers } from '@gantry/testkit/real-host/leftovers';
import { commandOutside, routeFromOutside, UPLINK } from '@gantry/testkit/real-host/outside';
import {
  BESIDE,
  LOCATION,
  type RealCloud,
  type RealHost,
  startRealCloud,
  VM_TYPE,
} from '@gantry/testkit/real-host/real-cloud';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';

const STARTUP = '#!/bin/sh\necho started >> /root/startup-trace\n';
const SHUTDOWN = '#!/bin/sh\necho ended >> /root/shutdown-trace\nsync\n';

/** A VM as the API shows it. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into replies freely
type Vm = any;

describe('a VM in a cloud with two real hosts', () => {
  let cloud: RealCloud;
  let keys: { own: SshKey; stored: SshKey; strange: SshKey };
  let vm: Vm;
  let host: RealHost;
  let reserved: { id: string; address: string };
  /** A shared volume that is attached until the VM is stopped. */
  let unused: string;
  let before: Awaited<ReturnType<typeof leftovers>>[];

  beforeAll(async () => {
    cloud = await startRealCloud(['one', 'two'], {
      ...BESIDE,
      agentEnvironment: () => ({ GANTRY_UPLINK: UPLINK }),
    });
    const [first] = cloud.hosts;
    if (!first) throw new Error('BUG: no host');
    keys = {
      own: await makeSshKey(first.directory, 'own'),
      stored: await makeSshKey(first.directory, 'stored'),
      strange: await makeSshKey(first.directory, 'strange'),
    };
    before = await Promise.all(cloud.hosts.map(leftovers));
  });
  afterAll(() => cloud?.stop());

  const ended = async (method: string, path: string, body?: object) => {
    const operation = await cloud.client.ended(await cloud.client.open(method, path, body));
    expect(operation).toMatchObject({ state: 'SUCCEEDED' });
    return operation.result;
  };
  const act = (action: string) => ended('PATCH', `/vms/${vm.id}`, { action });
  const show = async (): Promise<Vm> => (await cloud.client.call('GET', `/vms/${vm.id}`)).body;
  const addressOf = (one: Vm): string => one.network_interfaces[0].ips[0].private_ipv4.address;
  const inGuest = (command: string, key = keys.own) => host.ssh(addressOf(vm), key, command);
  /** Resolves when its SSH server replies. */
  const booted = () => expect.poll(() => inGuest('echo up').catch(String)).toBe('up\n');

  it('is created over HTTP and runs on one of them', async () => {
    await allowSsh();
    await cloud.client.call('POST', '/ssh-keys', {
      ...{ name: 'stored', public_key: keys.stored.publicLine },
    });
    vm = await ended('POST', '/vms', {
      ...{ name: 'first', type: VM_TYPE, location: LOCATION, image: 'tiny' },
      ...{ ssh_public_key: keys.own.publicLine, ssh_keys: ['stored'] },
      ...{ startup_script: STARTUP, shutdown_script: SHUTDOWN },
      // The image has no cloud-init, and must not mind.
      user_data: '#cloud-config\n{}\n',
    });
    expect(vm).toMatchObject({ state: 'STATE_RUNNING' });
    host = await cloud.hostOf(vm.id);
  });

  it('accepts SSH logins with its keys, and refuses another key', async () => {
    await booted();
    expect(await inGuest('hostname')).toBe('first\n');
    expect(await inGuest('hostname', keys.stored)).toBe('first\n');
    await expect(inGuest('true', keys.strange)).rejects.toThrow(/Permission denied/);
  });

  it('has run its startup script once', async () => {
    expect(await inGuest('cat /root/startup-trace')).toBe('started\n');
  });

  it('writes to its serial log', async () => {
    const log = async () => (await cloud.client.call('GET', `/vms/${vm.id}/serial-log`)).body;
    await expect.poll(async () => JSON.stringify(await log())).toContain('TINY: READY');
  });

  it('accepts input over its serial console', async () => {
    const { url, credentials } = cloud.console(vm.id);
    const console = new WebSocket(url, { headers: { authorization: `Bearer ${credentials}` } });
    let shown = '';
    console.on('message', (bytes) => {
      shown += String(bytes);
    });
    await once(console, 'open');
    console.send('echo "the result is $((6 * 7))"\n');
    await expect.poll(() => shown).toContain('the result is 42');
    console.close();
  });

  it('is not created from an image with a wrong checksum, and nothing is left', async () => {
    const operation = await cloud.client.ended(
      await cloud.client.open('POST', '/vms', {
        ...{ name: 'forged', type: VM_TYPE, location: LOCATION, image: 'forged' },
        ssh_public_key: keys.own.publicLine,
      }),
    );
    expect(operation).toMatchObject({ state: 'FAILED', result: { code: 'image_unavailable' } });
    expect(operation.result.message).toMatch(/sha-?256/i);
    const files = await Promise.all(cloud.hosts.map(async (one) => (await leftovers(one)).files));
    expect(files.flat().filter((file) => file.includes('.new'))).toEqual([]);
  });

  it('gets a disk, sees it grow, and releases it with its data', async () => {
    const disk = await ended('POST', '/disks', { name: 'data', size: '1GiB', location: LOCATION });
    await attach(disk.id);
    const device = await findDevice(disk.serial_number);
    await inGuest(`echo precious | dd of=${device} bs=512 conv=sync 2>/dev/null && sync`);
    await ended('PATCH', `/disks/${disk.id}`, { size: '2GiB' });
    const sectors = async () => Number(await inGuest(`cat /sys/block/${device.slice(5)}/size`));
    await expect.poll(sectors).toBe((2048 * MIB) / 512);
    await detach(disk.id);
    expect(await inGuest(`ls ${device} 2>/dev/null || echo none`)).toBe('none\n');
    await attach(disk.id);
    const again = await findDevice(disk.serial_number);
    expect(await inGuest(`head -c 8 ${again}`)).toBe('precious');
    await detach(disk.id);
    await ended('DELETE', `/disks/${disk.id}`);
  });

  it('keeps running if its agent is killed, and is found by the next agent', async () => {
    const uptime = async () => Number((await inGuest('cut -d. -f1 /proc/uptime')).trim());
    const earlier = await uptime();
    await host.agent.kill();
    expect(await inGuest('echo alone')).toBe('alone\n');
    await host.startAgent();
    await expect.poll(async () => (await show()).state).toBe('STATE_RUNNING');
    expect(await uptime()).toBeGreaterThan(earlier);
  });

  it('has its rules again after all rules of its host were removed', async () => {
    await host.runIn('nft', 'flush', 'ruleset');
    const tables = () => host.runIn('nft', 'list', 'tables');
    await expect.poll(tables).toContain('table bridge gantry');
    expect(await inGuest('echo reached')).toBe('reached\n');
  });

  it('is reset', async () => {
    await inGuest('touch /tmp/until-reset');
    expect(await act('RESET')).toMatchObject({ state: 'STATE_RUNNING' });
    const left = () => inGuest('ls /tmp/until-reset 2>&1 || true').catch(String);
    await expect.poll(left).toMatch(/No such/);
  });

  it('runs its shutdown script when it is stopped, and keeps its disk and address', async () => {
    await inGuest('echo kept > /root/kept && sync');
    const address = addressOf(await show());
    expect(await act('STOP')).toMatchObject({ state: 'STATE_SHUTOFF' });
    expect((await leftovers(host)).domains).toEqual([]);
    const shared = { name: 'shared', size: '1GiB', location: LOCATION, type: 'shared-volume' };
    const volume = await ended('POST', '/disks', shared);
    await attach(volume.id);
    reserved = await attachReservedAddress();
    expect(await act('START')).toMatchObject({ state: 'STATE_RUNNING' });
    vm = await show();
    expect(addressOf(vm)).toBe(address);
    host = await cloud.hostOf(vm.id);
    await booted();
    expect(await inGuest('cat /root/kept')).toBe('kept\n');
    expect(await inGuest('cat /root/shutdown-trace')).toBe('ended\n');
    expect(await inGuest('cat /root/startup-trace')).toBe('started\n');
    await inGuest(`mount -t virtiofs ${volume.id} /mnt && echo all > /mnt/for && sync`);
    const folder = path.join(host.dataDirectory, 'shared');
    const kept = (await readdir(folder, { recursive: true })).find((name) => name.endsWith('/for'));
    expect(await readFile(path.join(folder, kept ?? ''), 'utf8')).toBe('all\n');
    await inGuest('umount /mnt');
    unused = volume.id;
  });

  it('has a virtiofsd that may not exceed quotas', async () => {
    const processes = await host.libvirtd.processes();
    const daemons = processes.filter(({ command }) => command[0]?.endsWith('virtiofsd'));
    // QEMU's virtiofsd only waits for its child, which serves the guest in a PID namespace of its own.
    const parents = daemons.map(({ pid }) => pid).join(',');
    const children = await execute('pgrep', '--parent', parents);
    const served = await Promise.all(
      children
        .trim()
        .split('\n')
        .map(
          async (pid) =>
            /^CapEff:\s*(\w+)$/m.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1],
        ),
    );
    expect(served).toEqual([VIRTIOFSD_CAPABILITIES]);
  });

  it('is reached from outside at its reserved address, by `gantry vm ssh`', async () => {
    expect(vm.ssh_destination).toBe(reserved.address);
    await routeFromOutside(reserved.address, host.address);
    expect(await sshByCli('first', 'hostname')).toBe('first\n');
    // The guest sees the client, and the client the reserved address: nothing between them has another.
    expect(await sshByCli('first', 'echo $SSH_CLIENT')).toMatch(/^198\.51\.100\.1 /);
  });

  it('is not reached at the address any more once the address is detached', async () => {
    await act('STOP');
    await detach(unused);
    await ended('DELETE', `/disks/${unused}`);
    await ended('POST', `/vms/${vm.id}/detach-public-address`, { address_id: reserved.id });
    expect(addressOf(await show())).not.toBe(reserved.address);
    expect((await show()).ssh_destination).toBe(addressOf(vm));
    expect(await host.runIn('nft', 'list', 'ruleset')).not.toContain(reserved.address);
    const released = await cloud.client.call('DELETE', `/vpc/public-addresses/${reserved.id}`);
    expect(released.status).toBe(200);
  });

  it('leaves no domain, file, interface or process when it is deleted', async () => {
    await ended('DELETE', `/vms/${vm.id}`);
    const withoutImages = (all: typeof before) =>
      all.map(({ files, tables: _, ...rest }) => ({
        ...rest,
        files: files.filter((file) => !file.startsWith('images/')),
      }));
    expect(withoutImages(await Promise.all(cloud.hosts.map(leftovers)))).toEqual(
      withoutImages(before),
    );
  });

  /** The VM is stopped. Returns the address, which no other VM gets meanwhile. */
  async function attachReservedAddress(): Promise<{ id: string; address: string }> {
    const pool = { location: LOCATION, cidr: '203.0.113.7/32' };
    expect((await cloud.client.admin('POST', '/public-addresses', pool)).status).toBe(200);
    const wanted = { name: 'front', location: LOCATION };
    const { body } = await cloud.client.call('POST', '/vpc/public-addresses', wanted);
    await ended('POST', `/vms/${vm.id}/attach-public-address`, { address_id: body.id });
    return body;
  }

  /** The CLI reaches the api beside the test; the program that it starts to log in is outside. */
  async function sshByCli(name: string, command: string): Promise<string> {
    const gantry = await gantryIn({
      ...{ folder: host.directory, url: cloud.url, run: execute, sshFrom: commandOutside() },
      accessKey: cloud.console(vm.id).credentials,
    });
    return await gantry('vm', 'ssh', '--identity', keys.own.privateFile, name, '--', command);
  }

  const attach = (diskId: string) =>
    ended('POST', `/vms/${vm.id}/attach-disks`, {
      attach_disks: [{ disk_id: diskId, mode: 'read-write', attachment_type: 'data' }],
    });
  const detach = (diskId: string) =>
    ended('POST', `/vms/${vm.id}/detach-disks`, { detach_disks: [diskId] });

  async function allowSsh(): Promise<void> {
    const { body } = await cloud.client.call('GET', '/vpc/networks');
    await ended('POST', '/vpc/firewall-rules', {
      ...{ name: 'ssh', vpc_network_id: body.items[0].id, action: 'allow' },
      ...{ direction: 'ingress', protocols: ['tcp'], destination_ports: ['22'] },
      ...{ sources: [{ cidr: '0.0.0.0/0' }], destinations: [] },
    });
  }

  /** Returns the guest's block device with this serial number. */
  async function findDevice(serial: string): Promise<string> {
    const seen = serial.slice(0, 20);
    const line = `for d in /sys/block/vd*; do [ "$(cat $d/serial)" = '${seen}' ] && echo /dev/\${d##*/}; done; true`;
    let device = '';
    await expect
      .poll(async () => {
        device = (await inGuest(line)).trim();
        return device;
      })
      .not.toBe('');
    return device;
  }
});
