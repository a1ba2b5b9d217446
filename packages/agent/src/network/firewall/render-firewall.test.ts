import { describe, expect, it } from 'vitest';
import { HostFailure } from '../../base/failure.ts';
import type { FirewallRule, InterfaceSpec } from '../../spec.ts';
import { makeInterface, makeRule } from '../../testing/make-spec.ts';
import { bridgeName } from '../kernel/names.ts';
import { renderFirewall } from './render-firewall.ts';

const web = makeInterface('web');
const app = makeInterface('app', { mac: '02:00:00:00:00:06', privateIpv4: '10.0.0.6/24' });
const deny = { action: 'ACTION_DENY' } as const;
const egress = { direction: 'DIRECTION_EGRESS' } as const;

/** The lines of the chain that holds a network's rules. */
function chainOf(rules: FirewallRule[], direction = 'ingress', way = ''): string[] {
  const { text } = renderFirewall({ rules, interfaces: [web] }, null);
  const [, after = ''] = text.split(`chain ${direction}_${bridgeName('network-1')}${way} {\n`);
  const [body = ''] = after.split('\t}\n');
  return body.split('\n').flatMap((line) => (line.trim() === '' ? [] : [line.trim()]));
}

const LAST = 'counter drop comment "no rule allows it"';

describe('the text for nftables', () => {
  it('equals the golden file', async () => {
    const interfaces = [web, { ...app, publicIpv4: '198.51.100.7' }];
    const rules = [
      makeRule('ssh'),
      makeRule('out', { ...egress, protocols: ['tcp', 'udp', 'icmp'], destinationPorts: [] }),
      makeRule('not-app', {
        ...deny,
        sources: ['10.0.0.6'],
        destinationPorts: ['3000-8080', '80'],
      }),
    ];
    const { text } = renderFirewall({ rules, interfaces }, 'uplink0');
    await expect(text).toMatchFileSnapshot('testing/firewall.golden.nft');
  });

  it('does not depend on the order of rules and interfaces', () => {
    const rules = [makeRule('a'), makeRule('b', deny), makeRule('c', egress)];
    const one = renderFirewall({ rules, interfaces: [web, app] }, null);
    const two = renderFirewall({ rules: rules.toReversed(), interfaces: [app, web] }, null);
    expect(one).toEqual(two);
  });

  it('has a digest that changes with everything in the spec', () => {
    const base = { rules: [makeRule('a')], interfaces: [web] };
    const digests = [
      renderFirewall(base, null),
      renderFirewall(base, 'uplink0'),
      renderFirewall({ ...base, rules: [] }, null),
      renderFirewall({ ...base, rules: [makeRule('a', deny)] }, null),
      renderFirewall({ ...base, interfaces: [{ ...web, mac: '02:00:00:00:00:09' }] }, null),
      renderFirewall({ ...base, interfaces: [web, app] }, null),
    ].map(({ digest }) => digest);
    expect(new Set(digests).size).toBe(digests.length);
  });

  it('has no rule of a network without an interface on this host', () => {
    const rules = [makeRule('elsewhere', { networkId: 'network-9' })];
    const without = renderFirewall({ rules: [], interfaces: [web] }, null);
    expect(renderFirewall({ rules, interfaces: [web] }, null)).toEqual(without);
  });
});

describe('a chain of rules', () => {
  it('denies before it allows, and drops the rest', () => {
    const ports = (port: string) => ({ destinationPorts: [port] });
    const lines = chainOf([
      ...[makeRule('a', ports('1')), makeRule('b', { ...deny, ...ports('2') })],
      ...[makeRule('c', ports('3')), makeRule('d', { ...deny, ...ports('4') })],
    ]);
    expect(lines).toEqual([
      'ip protocol { tcp } th dport { 2, 4 } counter drop comment "a rule denies it"',
      'ip protocol { tcp } th dport { 1, 3 } accept',
      LAST,
    ]);
  });

  it('checks replies by the same rules, in reverse', () => {
    const rule = makeRule('r', {
      ...{ sources: ['192.0.2.1'], sourcePorts: ['53'], destinations: ['10.0.0.0/25'] },
      destinationPorts: ['80-90'],
    });
    expect(chainOf([rule])[0]).toBe(
      'ip protocol { tcp } th dport 80-90 ip daddr & 255.255.255.128 . ip saddr . th sport { 10.0.0.0 . 192.0.2.1 . 53 } accept',
    );
    const replies = chainOf([rule], 'ingress', '_replies');
    expect(replies[0]).toBe(
      'ip protocol { tcp } th sport 80-90 ip saddr & 255.255.255.128 . ip daddr . th dport { 10.0.0.0 . 192.0.2.1 . 53 } accept',
    );
  });

  it('uses one set for both directions if they share it', () => {
    const destinationPorts = ['1', '3', '5', '7', '9'];
    const { text } = renderFirewall(
      { rules: [makeRule('r', { destinationPorts })], interfaces: [web] },
      null,
    );
    expect(text.match(/elements = { 1, 3, 5, 7, 9 }/g)).toHaveLength(1);
    const name = `ingress_${bridgeName('network-1')}_0`;
    expect(text).toContain(`th dport @${name} accept`);
    expect(text).toContain(`th sport @${name} accept`);
  });

  it('drops everything without rules, and separates the directions', () => {
    expect(chainOf([])).toEqual([LAST]);
    expect(chainOf([makeRule('in')], 'egress')).toEqual([LAST]);
  });

  it.each([
    ['no ports', { destinationPorts: [] }, 'ip protocol { tcp }'],
    ['every port', { destinationPorts: ['22', '*'] }, 'ip protocol { tcp }'],
    [
      'ports that overlap or touch',
      { destinationPorts: ['80-90', '22', '85-100', '101'] },
      'ip protocol { tcp } th dport { 22, 80-101 }',
    ],
    [
      'addresses that overlap',
      { sources: ['10.0.0.0/8', '10.1.0.0/16', '192.0.2.1'], destinationPorts: [] },
      'ip protocol { tcp } ip saddr { 10.0.0.0-10.255.255.255, 192.0.2.1 }',
    ],
    [
      'addresses beside anywhere',
      { sources: ['10.0.0.0/8', '0.0.0.0/0'], destinations: ['10.0.0.5'], destinationPorts: [] },
      'ip protocol { tcp } ip daddr 10.0.0.5',
    ],
    [
      'icmp beside ports',
      { protocols: ['icmp', 'udp'], sourcePorts: ['53'], destinationPorts: [] },
      'ip protocol { udp } th sport 53 | ip protocol { icmp }',
    ],
    ['no sources', { sources: [] }, ''],
    ['no destinations', { destinations: [] }, ''],
  ])('matches a rule with %s', (_, rule, expected) => {
    const lines = chainOf([makeRule('r', rule)]).slice(0, -1);
    const matches = lines.map((line) => line.replace(/ accept$/, ''));
    expect(matches.join(' | ')).toBe(expected);
  });
});

describe('invalid input is refused by name:', () => {
  it.each<[string, Partial<InterfaceSpec>]>([
    ['no MAC', { mac: '02:00:00:00:00' }],
    ['a MAC of a group', { mac: '01:00:5e:00:00:01' }],
    ['text in a MAC', { mac: '02:00:00:00:00:01; flush ruleset' }],
    ['no prefix', { privateIpv4: '10.0.0.5' }],
    ['a prefix of zero', { privateIpv4: '10.0.0.5/0' }],
    ['two prefixes', { privateIpv4: '10.0.0.5/24/24' }],
    ['no address', { privateIpv4: '10.0.0.256/24' }],
    ['no gateway', { gatewayIpv4: '10.0.0' }],
    ['no public address', { publicIpv4: 'fe80::1' }],
    ['no bandwidth', { bandwidthMbps: -1 }],
    ['an id that quotes', { id: 'a"b' }],
    ['a network that quotes', { networkId: 'a:b' }],
  ])('an interface with %s', (_, iface) => {
    const render = () =>
      renderFirewall({ rules: [], interfaces: [makeInterface('n', iface)] }, null);
    expect(render).toThrow(HostFailure);
    expect(render).toThrow(expect.objectContaining({ code: 'invalid_interface' }));
  });

  it.each<[string, Partial<FirewallRule>]>([
    ['bits beyond the prefix', { sources: ['10.0.0.1/24'] }],
    ['a name', { destinations: ['web'] }],
    ['a port too large', { destinationPorts: ['65536'] }],
    ['a range that runs backwards', { sourcePorts: ['90-80'] }],
    ['another protocol', { protocols: ['tcp', 'sctp'] }],
    ['no protocol', { protocols: [] }],
    ['no direction', { direction: 'DIRECTION_UNSPECIFIED' }],
    ['no action', { action: 'ACTION_UNSPECIFIED' }],
    ['an id that quotes', { id: 'a"b' }],
  ])('a rule with %s', (_, rule) => {
    const render = () => renderFirewall({ rules: [makeRule('r', rule)], interfaces: [] }, null);
    expect(render).toThrow(expect.objectContaining({ code: 'invalid_firewall_rule' }));
  });
});
