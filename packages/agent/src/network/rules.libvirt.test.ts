import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Firewall, HostNetwork } from '../host-driver.ts';
import { makeInterface, makeRule } from '../testing/make-spec.ts';
import type { Guest } from './testing/guest.ts';
import { type Lab, openLab } from './testing/lab.ts';

const webInterface = makeInterface('web', { mac: '02:00:00:00:00:05', privateIpv4: '10.0.0.5/24' });
const appInterface = makeInterface('app', { mac: '02:00:00:00:00:06', privateIpv4: '10.0.0.6/24' });
const [web, app] = ['10.0.0.5', '10.0.0.6'];
const outgoing = makeRule('outgoing', {
  direction: 'DIRECTION_EGRESS',
  protocols: ['tcp', 'udp', 'icmp'],
  destinationPorts: [],
});

/** Hosts with and without bridge-nf-call-iptables and the check of source addresses. */
describe.each([0, 1])('with bridge-nf-call-iptables and rp_filter %d', (strict) => {
  let lab: Lab;
  let network: HostNetwork;
  let atWeb: Guest;
  let atApp: Guest;

  const apply = (rules: Firewall['rules']) =>
    network.applyFirewall({ rules, interfaces: [webInterface, appInterface] });

  beforeAll(async () => {
    lab = await openLab();
    await lab.host.run('sysctl', '-eqw', `net.bridge.bridge-nf-call-iptables=${strict}`);
    await lab.host.run('sysctl', '-qw', `net.ipv4.conf.all.rp_filter=${strict}`);
    network = lab.network({ reachableFromHost: true });
    atWeb = await lab.addGuest(webInterface);
    atApp = await lab.addGuest(appInterface);
    await apply([]);
    await network.ensureInterfaces('vm-web', [webInterface]);
    await network.ensureInterfaces('vm-app', [appInterface]);
    for (const port of [22, 80, 3000, 3001]) await atWeb.listen(port);
    await atWeb.listen(53, 'udp');
    await lab.outside.listen(443);
  });
  afterAll(() => lab?.close());

  it('nothing passes unless a rule allows it', async () => {
    await apply([]);
    expect(await atApp.misses(web, 22)).toBe(true);
    expect(await atApp.pings(web)).toBe(false);
    expect(await lab.host.misses(web, 22)).toBe(true);
    expect(await atApp.misses('192.0.2.2', 443)).toBe(true);
  });

  it('an allowed port is reached from a neighbour guest and from the host, other ports are not', async () => {
    await apply([outgoing, makeRule('ssh')]);
    expect(await atApp.reaches(web, 22)).toBe(app);
    expect(await lab.host.reaches(web, 22)).toBe('169.254.1.1');
    expect(await atApp.misses(web, 80)).toBe(true);
    expect(await lab.host.misses(web, 80)).toBe(true);
    expect(await atApp.pings(web)).toBe(false);
  });

  it('a guest receives what it may receive only from guests that may send it', async () => {
    await apply([makeRule('ssh')]);
    expect(await atApp.misses(web, 22)).toBe(true);
  });

  it('ranges and lists of ports allow what is in them, by protocol', async () => {
    await apply([
      outgoing,
      makeRule('range', { destinationPorts: ['3000-3000', '80'] }),
      makeRule('dns', { protocols: ['udp'], destinationPorts: ['53'] }),
    ]);
    expect(await atApp.reaches(web, 80)).toBe(app);
    expect(await atApp.reaches(web, 3000)).toBe(app);
    expect(await atApp.misses(web, 3001)).toBe(true);
    expect(await atApp.reaches(web, 53, { protocol: 'udp' })).toBe(app);
  });

  it('icmp passes by its own rule, and whatever the ports of a rule that it shares with tcp', async () => {
    await apply([outgoing, makeRule('both', { protocols: ['tcp', 'icmp'] })]);
    expect(await atApp.pings(web)).toBe(true);
    expect(await atApp.misses(web, 80)).toBe(true);
  });

  it('a rule for some sources, source ports and destinations applies to no others', async () => {
    await apply([
      outgoing,
      makeRule('by-source', { sources: ['10.0.0.6/32'], destinationPorts: ['22'] }),
      makeRule('by-port', { sourcePorts: ['5000-5999'], destinationPorts: ['80'] }),
      makeRule('elsewhere', {
        destinations: ['10.0.0.9', '10.0.0.64/26'],
        destinationPorts: ['3000'],
      }),
      makeRule('nowhere', { destinations: [], destinationPorts: ['3001'] }),
    ]);
    expect(await atApp.reaches(web, 22)).toBe(app);
    expect(await lab.host.misses(web, 22)).toBe(true);
    expect(await atApp.reaches(web, 80, { sourcePort: 5500 })).toBe(app);
    expect(await atApp.misses(web, 80, { sourcePort: 6000 })).toBe(true);
    expect(await atApp.misses(web, 3000)).toBe(true);
    expect(await atApp.misses(web, 3001)).toBe(true);
  });

  it('a denied packet is dropped, whatever allows it', async () => {
    const deny = { action: 'ACTION_DENY' } as const;
    await apply([
      outgoing,
      makeRule('a-web', { destinationPorts: ['22', '80'] }),
      makeRule('b-not-app', { ...deny, sources: ['10.0.0.6'], destinationPorts: ['80'] }),
      makeRule('c-web', { destinationPorts: ['*'] }),
    ]);
    expect(await atApp.reaches(web, 22)).toBe(app);
    expect(await atApp.misses(web, 80)).toBe(true);
    expect(await lab.host.reaches(web, 80)).toBe('169.254.1.1');
    await apply([
      outgoing,
      makeRule('in'),
      makeRule('out', { ...deny, direction: 'DIRECTION_EGRESS', destinations: [`${web}/32`] }),
    ]);
    expect(await atApp.misses(web, 22)).toBe(true);
  });

  it('a guest reaches the outside with the host’s address, and is not reached from there', async () => {
    await apply([outgoing, makeRule('ssh')]);
    expect(await atApp.reaches('192.0.2.2', 443)).toBe('192.0.2.1');
    await lab.outside.run('ip', 'route', 'replace', '10.0.0.0/24', 'via', '192.0.2.1');
    expect(await lab.outside.misses(web, 22)).toBe(true);
  });

  it('a public address leads to its guest if the rules allow it, and is the address that the outside sees', async () => {
    const published = { ...webInterface, publicIpv4: '198.51.100.7' };
    const interfaces = [published, appInterface];
    await network.applyFirewall({ rules: [outgoing, makeRule('ssh')], interfaces });
    expect(await lab.outside.reaches('198.51.100.7', 22)).toBe('192.0.2.2');
    expect(await lab.outside.misses('198.51.100.7', 80)).toBe(true);
    expect(await atWeb.reaches('192.0.2.2', 443)).toBe('198.51.100.7');
    await apply([outgoing, makeRule('ssh')]);
    expect(await lab.outside.misses('198.51.100.7', 22)).toBe(true);
  });

  it('an open connection continues while a rule allows it, and ends with the rule', async () => {
    await apply([outgoing, makeRule('ssh')]);
    expect(await atApp.reaches(web, 22)).toBe(app);
    await apply([outgoing, makeRule('ssh'), makeRule('more', { destinationPorts: ['80'] })]);
    expect(await atApp.reachesAgain()).toBe(app);
    await apply([outgoing]);
    expect(await atApp.missesNow()).toBe(true);
  });

  it('the gateway replies to an echo request, and the host to nothing else', async () => {
    await apply([outgoing, makeRule('ssh')]);
    await lab.host.listen(8080);
    expect(await atApp.pings('10.0.0.1')).toBe(true);
    expect(await atApp.misses('192.0.2.1', 8080)).toBe(true);
    expect(await atApp.misses('169.254.1.1', 8080)).toBe(true);
  });
});
