import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { renderSeedFiles } from '../../seed/nocloud.ts';
import { makeInterface, makeRule, makeVm } from '../../testing/make-spec.ts';
import { countedBy } from '../testing/counters.ts';
import type { Guest } from '../testing/guest.ts';
import { type Lab, openLab } from '../testing/lab.ts';
import { askForLease, renewLease } from './testing/dhcp-client.ts';

const exec = promisify(execFile);
const OPTIONS = { nameservers: ['192.0.2.53', '2001:db8::53'], mtu: 1450 };
const HOST_OPTIONS = { ...OPTIONS, nameservers: async () => OPTIONS.nameservers };
const METADATA = 'http://169.254.169.254';

/** Two networks with the same addresses, like those of two projects with the default network. */
const vmOf = (id: string, networkId: string, last: number) =>
  makeVm(id, {
    name: `name-of-${id}`,
    startupScript: `#!/bin/sh\necho ${'secret '.repeat(2_000)} ${id}\n`,
    interfaces: [
      makeInterface(`interface-${id}`, {
        networkId,
        privateIpv4: `10.0.0.${last}/24`,
        mac: `02:00:00:00:00:0${last}`,
      }),
    ],
  });
const red = vmOf('red', 'network-red', 5);
const blue = vmOf('blue', 'network-blue', 5);
const other = { ...vmOf('other', 'network-red', 6), userData: '#!/bin/sh\ntrue\n' };
const vms = [red, blue, other];
const published = {
  ...red,
  interfaces: red.interfaces.map((iface) => ({ ...iface, publicIpv4: '198.51.100.7' })),
};
const interfaces = [published, blue, other].flatMap((vm) => vm.interfaces);
const everything = { protocols: ['tcp', 'udp', 'icmp'], destinationPorts: [] };
/** The hardest case for the host: rules that allow everything. */
const rules = ['network-red', 'network-blue'].flatMap((networkId) => [
  makeRule(`${networkId}-out`, { ...everything, networkId, direction: 'DIRECTION_EGRESS' }),
  makeRule(`${networkId}-in`, { ...everything, networkId }),
]);
const firewall = { rules, interfaces };

describe('guest services', () => {
  let lab: Lab;
  let network: ReturnType<Lab['network']>;
  const guests = new Map<string, Guest>();
  const at = ({ id }: { id: string }) => {
    const guest = guests.get(id);
    if (!guest) throw new Error(`no guest ${id}`);
    return guest;
  };
  const get = async (guest: Guest, url: string, ...options: string[]) =>
    exec('ip', [
      ...['netns', 'exec', guest.netns, 'curl', '-sS', '-m', '20', '-w', '\n%{http_code}'],
      ...[...options, url],
    ]).then(
      ({ stdout }) => {
        const [, content = '', status = ''] = /^(.*)\n(\d+)$/s.exec(stdout) ?? [];
        return { status: Number(status), content };
      },
      () => ({ status: 0, content: '' }),
    );
  /** Silence is known after a moment. */
  const misses = async (guest: Guest, url: string, ...options: string[]) =>
    (await get(guest, url, '-m', '1', ...options)).status === 0;
  const fileOf = (vm: typeof red, name: string) =>
    `${renderSeedFiles(vm, OPTIONS).find((file) => file.name === name)?.content}`;

  beforeAll(async () => {
    lab = await openLab();
    // Many distributions set this: the source address of every packet is checked.
    await lab.host.run('sysctl', '-qw', 'net.ipv4.conf.all.rp_filter=1');
    network = lab.network(HOST_OPTIONS);
    for (const vm of vms) {
      const [iface] = vm.interfaces;
      if (iface) guests.set(vm.id, await lab.addGuest(iface));
    }
    await network.applyFirewall(firewall);
    await network.serveGuests([published, blue, other]);
    for (const vm of vms) await network.ensureInterfaces(vm.id, vm.interfaces);
  });
  afterAll(async () => {
    await network?.close();
    await lab?.close();
  });

  describe('by DHCP', () => {
    it.each([
      ['red', red, '10.0.0.5'],
      ['blue, which has the same address and MAC', blue, '10.0.0.5'],
      ['other', other, '10.0.0.6'],
    ])('offer everything an interface needs: %s', async (_, vm, address) => {
      expect(await askForLease(at(vm).netns)).toEqual({
        event: 'bound',
        ...{ ip: address, mask: '24', router: '10.0.0.1', mtu: '1450', lease: '43200' },
        ...{ dns: '192.0.2.53', hostname: `name-of-${vm.id}`, serverid: '169.254.169.254' },
        staticroutes: '169.254.169.254/32 10.0.0.1 0.0.0.0/0 10.0.0.1',
      });
    });

    it('reach a client without an address, also one that receives only broadcasts', async () => {
      const guest = at(other);
      await guest.run('ip', 'address', 'flush', 'dev', 'eth0');
      await guest.listen(68, 'udp');
      const heard = async () => {
        const [, counts = ''] =
          /^Udp: (\d.*)$/m.exec(await guest.run('cat', '/proc/net/snmp')) ?? [];
        return Number(counts.split(' ')[0]);
      };
      const before = await heard();
      expect(await askForLease(guest.netns)).toMatchObject({ ip: '10.0.0.6' });
      expect(await heard()).toBe(before);
      expect(await askForLease(guest.netns, '-B')).toMatchObject({ ip: '10.0.0.6' });
      expect(await heard()).toBeGreaterThan(before);
      await guest.run('ip', 'address', 'add', '10.0.0.6/24', 'dev', 'eth0');
      await guest.run('ip', 'route', 'add', 'default', 'via', '10.0.0.1');
    });

    it('renew a lease from the address that they gave', async () => {
      expect(await renewLease(at(red).netns)).toEqual(['bound', 'renew']);
    });

    it('give the interface’s own address, whichever the client requests', async () => {
      expect(await askForLease(at(red).netns, '-r', '10.0.0.6')).toMatchObject({ ip: '10.0.0.5' });
    });

    it('ignore a MAC that is not the interface’s', async () => {
      const guest = at(other);
      await guest.run('ip', 'link', 'set', 'eth0', 'address', '02:00:00:00:00:77');
      expect(await askForLease(guest.netns)).toBeNull();
      await guest.run('ip', 'link', 'set', 'eth0', 'address', '02:00:00:00:00:06');
    });
  });

  describe('by HTTP', () => {
    it.each(['meta-data', 'user-data', 'network-config', 'gantry-startup'])(
      'serve %s as in its own seed, to each of two tenants with the same address',
      async (name) => {
        for (const vm of vms) {
          const { status, content } = await get(at(vm), `${METADATA}/${name}`);
          expect(status).toBe(200);
          expect(content).toBe(fileOf(vm, name));
        }
        expect(fileOf(red, 'meta-data')).not.toBe(fileOf(blue, 'meta-data'));
      },
    );

    it('serve the user data of the tenant as user-data, and ours as vendor-data', async () => {
      for (const name of ['user-data', 'vendor-data']) {
        const { content } = await get(at(other), `${METADATA}/${name}`);
        expect(content).toBe(fileOf(other, name));
      }
    });

    it('serve an empty vendor-data without it, and nothing under another path, name or method', async () => {
      const guest = at(red);
      expect(await get(guest, `${METADATA}/vendor-data`)).toEqual({ status: 200, content: '' });
      for (const path of ['', 'latest/meta-data', '../meta-data', 'meta-data/', 'meta-data?x']) {
        expect(await get(guest, `${METADATA}/${path}`, '--path-as-is')).toMatchObject({
          status: 404,
        });
      }
      const rebound = ['-H', 'Host: rebound.test'];
      expect(await get(guest, `${METADATA}/meta-data`, ...rebound)).toMatchObject({ status: 404 });
      const sent = ['-X', 'POST', '-d', 'x'];
      expect(await get(guest, `${METADATA}/meta-data`, ...sent)).toMatchObject({ status: 405 });
    });

    it('serve nothing to a guest that pretends to be its neighbour', async () => {
      const guest = at(other);
      await guest.run('ip', 'address', 'add', '10.0.0.5/32', 'dev', 'eth0');
      const asNeighbour = ['--interface', '10.0.0.5'];
      expect(await misses(guest, `${METADATA}/meta-data`, ...asNeighbour)).toBe(true);
      await guest.run('ip', 'address', 'del', '10.0.0.5/32', 'dev', 'eth0');
      const said = ['-H', 'X-Forwarded-For: 10.0.0.5'];
      const { content } = await get(guest, `${METADATA}/meta-data`, ...said);
      expect(content).toBe(fileOf(other, 'meta-data'));
    });

    it('reach a guest that takes their address for one on its link', async () => {
      const guest = at(blue);
      await guest.run('ip', 'route', 'add', '169.254.0.0/16', 'dev', 'eth0');
      expect(await get(guest, `${METADATA}/meta-data`)).toMatchObject({ status: 200 });
      await guest.run('ip', 'route', 'del', '169.254.0.0/16');
    });

    it('are not delayed by idle connections', async () => {
      const idle = Array.from({ length: 20 }, () =>
        exec('ip', ['netns', 'exec', at(blue).netns, 'busybox', 'nc', '169.254.169.254', '80']),
      );
      expect(await get(at(red), `${METADATA}/meta-data`)).toMatchObject({ status: 200 });
      for (const { child } of idle) child.kill();
      await Promise.allSettled(idle);
      await expect
        .poll(() => get(at(blue), `${METADATA}/meta-data`))
        .toMatchObject({ status: 200 });
    });
  });

  it('are not delayed by a guest that floods them, and count its packets', async () => {
    const flood = `
      const socket = require('node:dgram').createSocket('udp4');
      socket.bind(68, async () => {
        for (let left = 1000; left > 0; left -= 1) {
          await new Promise((sent) => socket.send('?', 67, '169.254.169.254', sent));
        }
        socket.close();
      });`;
    await at(blue).run(process.execPath, '-e', flood);
    expect(await get(at(red), `${METADATA}/meta-data`)).toMatchObject({ status: 200 });
    const listed = await lab.nft('-j', 'list', 'table', 'bridge', 'gantry');
    expect(countedBy(listed, 'asks too often')).toBeGreaterThan(100);
    await expect.poll(() => askForLease(at(blue).netns)).toMatchObject({ ip: '10.0.0.5' });
  });

  it('are all that guests reach of the host', async () => {
    for (const port of [22, 80]) await lab.host.listen(port);
    for (const [address, port] of [
      ...[22, 80, 254].map((port) => ['169.254.1.1', port] as const),
      ...[22, 254].map((port) => ['192.0.2.1', port] as const),
      ...[22, 254].map((port) => ['169.254.169.254', port] as const),
      ...[22, 80].map((port) => ['10.0.0.1', port] as const),
    ]) {
      expect(await at(red).misses(address, port), `${address}:${port}`).toBe(true);
    }
    const direct = { protocol: 'udp', sourcePort: 68 } as const;
    expect(await at(red).misses('169.254.1.1', 254, direct)).toBe(true);
  });

  it('serve neither the outside nor the host’s own programs', async () => {
    await lab.outside.run('ip', 'route', 'add', '169.254.0.0/16', 'via', '192.0.2.1');
    const hosts = ['169.254.169.254', '169.254.1.1:254', '192.0.2.1:254', '198.51.100.7'];
    const asked = hosts.map((host) =>
      misses(lab.outside, `http://${host}/meta-data`, '-H', 'Host: 169.254.169.254'),
    );
    asked.push(misses(lab.host, 'http://169.254.1.1:254/meta-data'));
    expect(await Promise.all(asked)).toEqual(asked.map(() => true));
    expect(await lab.outside.misses('169.254.1.1', 254)).toBe(true);
  });

  it('are not replaced by a service of the same address behind the uplink', async () => {
    await lab.outside.run('ip', 'address', 'add', '169.254.169.254/32', 'dev', 'eth0');
    await lab.outside.listen(80);
    await lab.outside.listen(8080);
    await lab.ip('route add 169.254.169.254 via 192.0.2.2');
    expect(await lab.host.reaches('169.254.169.254', 8080)).toBe('192.0.2.1');
    expect(await at(red).misses('169.254.169.254', 8080)).toBe(true);
    const { content } = await get(at(red), `${METADATA}/meta-data`);
    expect(content).toBe(fileOf(red, 'meta-data'));
    await lab.ip('route del 169.254.169.254 via 192.0.2.2');
  });

  it('serve a seed that cloud-init accepts: ds=nocloud;s=http://169.254.169.254/', async () => {
    const seed = JSON.parse(
      await at(blue).run(
        '/usr/bin/python3',
        fileURLToPath(new URL('testing/read-seed.py', import.meta.url)),
      ),
    );
    expect(seed).toEqual({
      found: true,
      metadata: { 'instance-id': 'blue', 'local-hostname': 'name-of-blue' },
      userdata: fileOf(blue, 'user-data'),
    });
  });

  it('leave the rules in force, however many requests there are', async () => {
    expect(await network.isInForce(firewall)).toBe(true);
  });

  describe('after the agent died', () => {
    it('refuse while there is no agent, and reply after its restart without a change in the guest', async () => {
      await network.close();
      expect(await misses(at(red), `${METADATA}/meta-data`)).toBe(true);
      network = lab.network(HOST_OPTIONS);
      expect(await network.isInForce(firewall)).toBe(true);
      await network.serveGuests([published, blue, other]);
      for (const vm of vms) {
        const { content } = await get(at(vm), `${METADATA}/meta-data`);
        expect(content).toBe(fileOf(vm, 'meta-data'));
      }
      expect(await askForLease(at(blue).netns)).toMatchObject({ hostname: 'name-of-blue' });
    });

    it('wait for the earlier process to release the address', async () => {
      const next = lab.network(HOST_OPTIONS);
      expect(await next.isInForce(firewall)).toBe(true);
      await next.serveGuests([{ ...published, name: 'renamed' }, blue, other]);
      await network.close();
      network = next;
      await expect
        .poll(async () => (await get(at(red), `${METADATA}/meta-data`)).content)
        .toContain('renamed');
    });
  });

  it('serve nothing of a removed VM, and the other VMs as before', async () => {
    await network.removeInterfaces(red.id);
    await network.applyFirewall({ ...firewall, interfaces: interfaces.slice(1) });
    await network.serveGuests([blue, other]);
    expect(await askForLease(at(blue).netns)).toMatchObject({ hostname: 'name-of-blue' });
    expect(await get(at(other), `${METADATA}/meta-data`)).toMatchObject({ status: 200 });
  });
});
