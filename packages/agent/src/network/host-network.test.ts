import { describe, expect, it } from 'vitest';
import { createQueue } from '../base/queue.ts';
import { makeInterface } from '../testing/make-spec.ts';
import { canonicalListing } from './firewall/canonical-listing.ts';
import { parseCovered } from './firewall/firewall-in-kernel.ts';
import { createHostNetwork } from './host-network.ts';
import { findBridges, findTaps, parseLinks } from './kernel/links.ts';
import { bridgeMac, bridgeName, networkNumber, tapName } from './kernel/names.ts';
import { parseRules } from './kernel/routing-rules.ts';
import { assignZones } from './kernel/zones.ts';

describe('kernel listings', () => {
  const links = parseLinks(
    JSON.stringify([
      { ifname: 'lo', address: '00:00:00:00:00:00' },
      { ifname: 'gtap1', master: 'gbr1', ifalias: 'gantry:vm-1:interface-1:10.0.0.5' },
      { ifname: 'gtap2', ifalias: 'somebody' },
      { ifname: 'gtap3' },
      { ifname: 'eth0', ifalias: 'gantry:vm-1:interface-1:10.0.0.5' },
      { ifname: 'gbr1', ifalias: 'gantry:network:red' },
      { ifname: 'gbr2', ifalias: 'gantry:network:blue' },
      { ifname: 'gbr3', ifalias: 'gantry:vm-1:interface-2:10.0.0.6' },
    ]),
  );

  it('show links with the agent’s prefix and alias, and no others', () => {
    expect(findTaps(links)).toEqual([
      { name: 'gtap1', vmId: 'vm-1', address: '10.0.0.5', bridge: 'gbr1' },
    ]);
    expect(findBridges(links)).toEqual([
      { name: 'gbr1', mark: networkNumber('red'), isUsed: true },
      { name: 'gbr2', mark: networkNumber('blue'), isUsed: false },
    ]);
  });

  it('of rules and sets are parsed', () => {
    const rules = [
      { priority: 0, src: 'all', table: 'local' },
      { priority: 1000, table: '1073741824' },
    ];
    expect(parseRules(JSON.stringify(rules))).toEqual([
      { preference: '0', table: 'local' },
      { preference: '1000', table: '1073741824' },
    ]);
    const elem = [{ concat: ['gtap1', '02:00:00:00:00:01', '10.0.0.5'] }];
    const listing = {
      nftables: [{ metainfo: {} }, { set: { table: 'gantry', name: 'guests', elem } }],
    };
    expect([...parseCovered(JSON.stringify(listing))]).toEqual([
      'gtap1 02:00:00:00:00:01 10.0.0.5',
    ]);
    expect(
      parseCovered('{"nftables": [{"set": {"table": "gantry", "name": "guests"}}]}').size,
    ).toBe(0);
  });

  const listing = (packets: number, handle: number, elem: string[], verdict = 'drop') =>
    canonicalListing(
      JSON.stringify({
        nftables: [
          { metainfo: { version: `1.0.${handle}` } },
          { set: { name: 's', handle, elem } },
          {
            rule: { handle, expr: [{ counter: { packets, bytes: packets } }, { [verdict]: null }] },
          },
        ],
      }),
    );

  it('are equal whatever the counters, handles and order', () => {
    expect(listing(0, 1, ['a', 'b'])).toBe(listing(9, 7, ['b', 'a']));
  });

  it('differ by a rule, an element or a verdict', () => {
    expect(listing(0, 1, ['a'])).not.toBe(listing(0, 1, ['a', 'b']));
    expect(listing(0, 1, ['a'])).not.toBe(listing(0, 1, ['a'], 'accept'));
  });
});

describe('names', () => {
  it('fit the kernel and are derived from the id', () => {
    expect(bridgeName('a').length).toBeLessThanOrEqual(15);
    expect(tapName('a').length).toBeLessThanOrEqual(15);
    expect(bridgeMac('a')).toMatch(/^02(:[0-9a-f]{2}){5}$/);
    expect(bridgeMac('a')).toBe(bridgeMac('a'));
    expect(networkNumber('a')).toBeGreaterThanOrEqual(0x4000_0000);
    expect(networkNumber('a')).toBeLessThan(0x8000_0000);
  });

  it('give each network its own zone, which stays when others are added or removed', () => {
    const ids = Array.from({ length: 2_000 }, (_, index) => `network-${index}`);
    const zones = assignZones(ids);
    expect(new Set(zones.values()).size).toBe(ids.length);
    expect(Math.min(...zones.values())).toBeGreaterThan(0);
    expect(Math.max(...zones.values())).toBeLessThanOrEqual(65_535);
    expect(assignZones(['network-7']).get('network-7')).toBe(zones.get('network-7'));
  });
});

describe('changes', () => {
  it('are serialised, also after one that failed', async () => {
    const inOrder = createQueue();
    const seen: string[] = [];
    const first = inOrder(async () => {
      await Promise.resolve();
      seen.push('first');
      throw new Error('failed');
    });
    const second = inOrder(async () => seen.push('second'));
    await expect(first).rejects.toThrow('failed');
    await second;
    expect(seen).toEqual(['first', 'second']);
  });

  it('that are invalid run no command', async () => {
    const network = createHostNetwork({
      run: () => {
        throw new Error('a command was run');
      },
    });
    const iface = makeInterface('n', { mac: 'x' });
    await expect(network.ensureInterfaces('vm-1', [iface])).rejects.toMatchObject({
      code: 'invalid_interface',
    });
    await expect(network.ensureInterfaces('vm 1', [])).rejects.toMatchObject({
      code: 'invalid_interface',
    });
    const firewall = { rules: [], interfaces: [iface] };
    await expect(network.applyFirewall(firewall)).rejects.toMatchObject({
      code: 'invalid_interface',
    });
    expect(() => createHostNetwork({ uplink: 'a b' })).toThrow('not a valid interface name');
  });
});
