import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bridgeName, tapName, tunnelName } from './kernel/names.ts';
import { capture } from './testing/capture.ts';
import { countedBy, countPackets } from './testing/counters.ts';
import {
  firewallOf,
  type HostSpan,
  interfacesOf,
  openRules,
  openSpan,
  VNIS,
} from './testing/span.ts';
import { underlayAddress } from './testing/underlay.ts';
import { FORGED_PORT, sendForged } from './testing/vxlan-packet.ts';

const [red, blue] = [interfacesOf('red'), interfacesOf('blue')];
/** The largest echo that fits one packet of a guest. */
const LARGEST_ECHO = `${1450 - 28}`;
const VXLAN = 'udp dport 4789';

describe('two tenants with the same addresses on the same hosts', () => {
  let span: HostSpan;
  const places = [[red.web, blue.web], [red.app, blue.app], [red.far]];
  const at = (id: string) => span.at(id);

  beforeAll(async () => {
    span = await openSpan(3);
    await span.apply(places);
    for (const [index, interfaces] of places.entries()) {
      for (const iface of interfaces) await span.bringUp(iface, index);
    }
    await at('red-web').listen(22);
    await at('red-app').listen(22);
    await at('blue-web').listen(80);
  });
  afterAll(() => span?.close());

  it('reach their own VMs on another host, in both directions, and never the other tenant’s', async () => {
    expect(await at('red-app').reaches('10.0.0.5', 22)).toBe('10.0.0.6');
    expect(await at('red-web').reaches('10.0.0.6', 22)).toBe('10.0.0.5');
    expect(await at('blue-app').reaches('10.0.0.5', 80)).toBe('10.0.0.6');
    // Their own guest is reachable but does not listen there; the other tenant's guest does.
    expect(await at('red-app').reaches('10.0.0.5', 80)).toContain('ECONNREFUSED');
    expect(await at('blue-app').reaches('10.0.0.5', 22)).toContain('ECONNREFUSED');
  });

  it('reach every subnet of their network, and the gateway of each', async () => {
    expect(await at('red-far').reaches('10.0.0.5', 22)).toBe('10.0.1.7');
    expect(await at('red-web').pings('10.0.1.7')).toBe(true);
    expect(await at('red-web').pings('10.0.1.1')).toBe(true);
    expect(await at('red-far').pings('10.0.0.1')).toBe(true);
  });

  it('reach nothing at an unused address of their network, nor outside of it', async () => {
    const { lab } = span.node(0);
    const seen = await countPackets(lab.outside, {
      hook: 'ingress device eth0',
      kinds: { all: 'ip daddr 10.0.0.0/8' },
    });
    expect(await at('red-web').misses('10.0.0.99', 22)).toBe(true);
    expect(await at('red-web').misses('10.0.1.99', 22)).toBe(true);
    // Blue has no VM at this one, red does.
    expect(await at('blue-web').misses('10.0.1.7', 22)).toBe(true);
    expect(await seen()).toEqual({ all: 0 });
  });

  it('send packets of the largest size unfragmented, and larger ones in fragments that arrive', async () => {
    const seen = await countPackets(span.wire.stranger, {
      hook: 'forward',
      kinds: { whole: VXLAN, pieces: 'ip frag-off & 0x3fff != 0' },
    });
    expect(await at('red-web').pings('10.0.0.6', '-s', LARGEST_ECHO)).toBe(true);
    expect(await at('red-far').pings('10.0.0.6', '-s', LARGEST_ECHO)).toBe(true);
    expect(await seen()).toEqual({ whole: 4, pieces: 0 });
    expect(await at('red-web').pings('10.0.0.6', '-s', '6000')).toBe(true);
    expect(await seen()).toMatchObject({ pieces: 0 });
  });

  it('see no packet of each other on any interface, and no packet of theirs is unencapsulated on the wire', async () => {
    const kinds = { all: 'meta protocol ip' };
    const hook = 'ingress device eth0';
    const atWeb = await countPackets(at('blue-web'), { hook, kinds });
    const atApp = await countPackets(at('blue-app'), { hook, kinds });
    const onWire = await countPackets(span.wire.stranger, {
      hook: 'forward',
      kinds: {
        red: `${VXLAN} @th,96,24 ${VNIS['red']}`,
        blue: `${VXLAN} @th,96,24 ${VNIS['blue']}`,
        bare: `ip protocol != udp`,
        other: 'udp dport != 4789',
      },
    });
    expect(await at('red-app').reaches('10.0.0.5', 22)).toBe('10.0.0.6');
    expect(await at('red-web').pings('10.0.0.6')).toBe(true);
    expect(await at('red-web').misses('10.0.0.6', 9, { protocol: 'udp' })).toBe(true);
    const { red: ofRed, ...rest } = await onWire();
    expect(ofRed).toBeGreaterThan(8);
    expect(rest).toEqual({ blue: 0, bare: 0, other: 0 });
    expect([await atWeb(), await atApp()]).toEqual([{ all: 0 }, { all: 0 }]);
    expect(await at('blue-app').pings('10.0.0.5')).toBe(true);
    expect((await onWire()).blue).toBeGreaterThan(0);
  });

  it('never appear in a capture of the other’s interfaces, on either host, while both send', async () => {
    const tenants = ['red', 'blue'] as const;
    const word = (tenant: string) => `the word of ${tenant}`;
    const other = { red: 'blue', blue: 'red' } as const;
    const of = (tenant: string) => `udp[12:4] & 0xffffff00 = ${(VNIS[tenant] ?? 0) << 8}`;
    const places = tenants.flatMap((tenant) =>
      [0, 1].flatMap((index) => {
        const { netns } = span.node(index).lab.host;
        const id = `${tenant}-${index === 0 ? 'web' : 'app'}`;
        return [
          { tenant, netns: at(id).netns, link: 'eth0' },
          { tenant, netns, link: tapName(id) },
          { tenant, netns, link: bridgeName(tenant) },
          { tenant, netns, link: tunnelName(tenant) },
          { tenant, netns, link: 'under0', filter: `udp port 4789 and ${of(tenant)}` },
        ];
      }),
    );
    const captures = await Promise.all(
      places.map(({ netns, link, filter }) => capture(netns, link, filter)),
    );
    const bare = await capture(span.wire.stranger.netns, 'switch', 'not udp port 4789');
    for (const protocol of ['tcp', 'udp'] as const) {
      for (const tenant of tenants) {
        await at(`${tenant}-web`).listen(9090, protocol);
        const ask = { protocol, text: word(tenant) };
        expect(await at(`${tenant}-app`).reaches('10.0.0.5', 9090, ask)).toBe('10.0.0.6');
      }
    }
    const seen = await Promise.all(captures.map((each) => each.end()));
    for (const [index, { tenant, link }] of places.entries()) {
      const packets = seen[index] ?? Buffer.alloc(0);
      expect(packets.includes(word(tenant)), `${link} of ${tenant}`).toBe(true);
      expect(packets.includes(word(other[tenant])), `${link} of ${tenant}`).toBe(false);
    }
    const outside = await bare.end();
    for (const tenant of tenants) expect(outside.includes(word(tenant))).toBe(false);
  });

  it('are filtered by the sender’s rules on its host and by the receiver’s rules on its host', async () => {
    const [incoming, outgoing] = [openRules('red').slice(0, 1), openRules('red').slice(1)];
    const [web, app] = [span.node(0).network, span.node(1).network];
    await web.applyFirewall(firewallOf(places, { index: 0, rules: outgoing }));
    expect(await at('red-app').misses('10.0.0.5', 22)).toBe(true);
    expect(await at('red-web').reaches('10.0.0.6', 22)).toBe('10.0.0.5');
    await web.applyFirewall(firewallOf(places, { index: 0 }));
    await app.applyFirewall(firewallOf(places, { index: 1, rules: incoming }));
    expect(await at('red-app').misses('10.0.0.5', 22)).toBe(true);
    expect(await at('red-web').reaches('10.0.0.6', 22)).toBe('10.0.0.5');
    await app.applyFirewall(firewallOf(places, { index: 1 }));
    expect(await at('red-app').reaches('10.0.0.5', 22)).toBe('10.0.0.6');
  });

  describe('on a host that gets VXLAN packets made by hand', () => {
    const to = underlayAddress(0);
    const genuine = { to, vni: VNIS['red'] ?? 0, innerSource: '10.0.0.6' };
    const dropped = async (comment: string) =>
      countedBy(await span.node(0).lab.nft('-j', 'list', 'table', 'inet', 'gantry'), comment);
    const hook = 'ingress device eth0';
    const kinds = { forged: `udp dport ${FORGED_PORT}` };
    const countForged = () => countPackets(at('red-web'), { hook, kinds });
    const send = (index: number | null, change: Partial<typeof genuine> = {}) => {
      const from = index === null ? span.wire.stranger : span.node(index).lab.host;
      return sendForged(from, { ...genuine, innerDestination: '10.0.0.5', ...change });
    };

    it('receive what their host would send, so that the other packets are dropped for their faults', async () => {
      const forged = await countForged();
      await send(1);
      await expect.poll(forged).toEqual({ forged: 1 });
    });

    it.each([
      ['from an address that is no peer’s', null, {}, 'VXLAN from a stranger'],
      ['of a network nobody has', 1, { vni: 9999 }, 'VXLAN of a foreign network'],
      ['of a network its host has no VM of', 2, { vni: 7002 }, 'VXLAN of a foreign network'],
      [
        'with the source of the receiver',
        1,
        { innerSource: '10.0.0.5' },
        'VXLAN with a foreign source',
      ],
      [
        'with the source of a VM elsewhere',
        1,
        { innerSource: '10.0.1.7' },
        'VXLAN with a foreign source',
      ],
      ['with a source outside', 1, { innerSource: '198.51.100.1' }, 'VXLAN with a foreign source'],
    ] as const)('receive no packet %s, and it is counted', async (_, index, change, comment) => {
      const forged = await countForged();
      const before = await dropped(comment);
      await send(index, change);
      await expect.poll(() => dropped(comment)).toBe(before + 1);
      expect(await forged()).toEqual({ forged: 0 });
    });

    it('forward nothing to other addresses', async () => {
      const comment = 'from a tunnel to elsewhere';
      const before = await dropped(comment);
      await sendForged(span.node(1).lab.host, { ...genuine, innerDestination: '192.0.2.2' });
      await sendForged(span.node(1).lab.host, { ...genuine, innerDestination: '10.0.1.7' });
      await sendForged(span.node(1).lab.host, { ...genuine, innerDestination: '10.0.0.99' });
      await sendForged(span.node(1).lab.host, { ...genuine, innerDestination: '192.0.2.1' });
      await sendForged(span.node(1).lab.host, { ...genuine, innerDestination: '169.254.1.1' });
      await expect.poll(() => dropped(comment)).toBe(before + 5);
    });
  });

  it('reach a VM that moved at the same address from a third host, and a removed VM nowhere', async () => {
    expect(await at('red-far').pings('10.0.0.6')).toBe(true);
    await span.node(1).network.removeInterfaces('vm-red-app');
    const moved = [[red.web, red.app, blue.web], [blue.app], [red.far]];
    await span.apply(moved);
    await span.bringUp(red.app, 0);
    expect(await at('red-far').pings('10.0.0.6')).toBe(true);
    expect(await at('red-web').pings('10.0.0.6')).toBe(true);
    await span.node(0).network.removeInterfaces('vm-red-app');
    await span.apply(places);
    expect(await at('red-far').pings('10.0.0.6')).toBe(false);
    await span.apply([[red.web, blue.web], [blue.app], [red.far]]);
    expect(await at('red-far').misses('10.0.0.6', 22)).toBe(true);
    expect(await at('red-far').reaches('10.0.0.5', 22)).toBe('10.0.1.7');
  });
});
