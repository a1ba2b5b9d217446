import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { makeInterface, makeRule } from '../testing/make-spec.ts';
import { bridgeMac, bridgeName, tapName } from './kernel/names.ts';
import type { Guest } from './testing/guest.ts';
import { type Lab, openLab } from './testing/lab.ts';

const webInterface = makeInterface('web', { mac: '02:00:00:00:00:05', privateIpv4: '10.0.0.5/24' });
const evilInterface = makeInterface('evil', {
  mac: '02:00:00:00:00:06',
  privateIpv4: '10.0.0.6/24',
});
const web = '10.0.0.5';
const everything = { protocols: ['tcp', 'udp', 'icmp'], destinationPorts: [] };
const rules = [
  makeRule('in', everything),
  makeRule('out', { ...everything, direction: 'DIRECTION_EGRESS' }),
];

type Listing = {
  nftables: { rule?: { comment?: string; expr: { counter?: { packets: number } }[] } }[];
};

describe('a guest that pretends', () => {
  let lab: Lab;
  let evil: Guest;

  const dropped = async (comment: string) => {
    const listing: Listing = JSON.parse(await lab.nft('-j', 'list', 'table', 'bridge', 'gantry'));
    return listing.nftables
      .flatMap(({ rule }) => (rule?.comment === comment ? rule.expr : []))
      .reduce((sum, { counter }) => sum + (counter?.packets ?? 0), 0);
  };

  beforeAll(async () => {
    lab = await openLab();
    const network = lab.network();
    const atWeb = await lab.addGuest(webInterface);
    evil = await lab.addGuest(evilInterface);
    await network.applyFirewall({ rules, interfaces: [webInterface, evilInterface] });
    await network.ensureInterfaces('vm-web', [webInterface]);
    await network.ensureInterfaces('vm-evil', [evilInterface]);
    await atWeb.listen(22);
  });
  afterAll(() => lab?.close());
  beforeEach(async () => {
    expect(await evil.reaches(web, 22)).toBe('10.0.0.6');
  });

  it('to have another MAC is dropped and counted', async () => {
    const before = await dropped('foreign MAC');
    await evil.run('ip', 'link', 'set', 'eth0', 'address', '02:00:00:00:00:05');
    expect(await evil.misses(web, 22)).toBe(true);
    await evil.run('ip', 'link', 'set', 'eth0', 'address', evilInterface.mac);
    expect(await dropped('foreign MAC')).toBeGreaterThan(before);
  });

  it('to have another address is dropped and counted', async () => {
    await evil.run('ip', 'address', 'add', '10.0.0.77/32', 'dev', 'eth0');
    expect(await evil.misses(web, 22, { sourceAddress: '10.0.0.77' })).toBe(true);
    expect(await dropped('foreign address')).toBeGreaterThan(0);
  });

  it("to have another's address by ARP is dropped and counted", async () => {
    const arping = (source: string) =>
      evil.run('busybox', 'arping', '-c', '1', '-w', '1', '-I', 'eth0', '-s', source, '10.0.0.1');
    await evil.run('ip', 'address', 'add', '10.0.0.78/32', 'dev', 'eth0');
    expect(await arping('10.0.0.6')).toContain(bridgeMac('network-1'));
    await arping('10.0.0.78').catch(() => undefined);
    expect(await dropped('foreign ARP')).toBeGreaterThan(0);
  });

  it('to be a DHCP server or an IPv6 router is dropped and counted', async () => {
    await evil.misses(web, 68, { protocol: 'udp', sourcePort: 67 });
    expect(await dropped('DHCP server')).toBeGreaterThan(0);
    await evil.pings('ff02::1%eth0', '-6');
    expect(await dropped('neither IPv4 nor ARP')).toBeGreaterThan(0);
  });

  it('sees the router in place of its neighbours, and nothing at unused addresses', async () => {
    const ask = (address: string) =>
      evil.run('busybox', 'arping', '-c', '1', '-w', '1', '-I', 'eth0', address);
    expect(await ask(web)).toContain(bridgeMac('network-1'));
    await expect(ask('10.0.0.99')).rejects.toThrow();
  });

  it('to be the router does not reach a neighbour directly', async () => {
    await evil.run('ip', 'neigh', 'replace', web, 'lladdr', webInterface.mac, 'dev', 'eth0');
    expect(await evil.misses(web, 22)).toBe(true);
    await evil.run('ip', 'neigh', 'delete', web, 'dev', 'eth0');
  });

  it('to be known passes nothing through a tap that no spec names', async () => {
    const stray = makeInterface('stray', { mac: '02:00:00:00:00:09', privateIpv4: '10.0.0.9/24' });
    const guest = await lab.addGuest(stray);
    await lab.ip(`link set ${tapName('stray')} master ${bridgeName('network-1')} up`);
    expect(await guest.misses(web, 22)).toBe(true);
    expect(await guest.pings('10.0.0.1')).toBe(false);
  });
});
