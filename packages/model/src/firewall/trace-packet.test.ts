import { describe, expect, it } from 'vitest';
import type { ResolvedRule } from './match-rule.ts';
import type { End, Inside } from './plan-path.ts';
import { type Question, tracePacket } from './trace-packet.ts';

const vm = (address: string, rest: Partial<Inside> = {}): Inside => ({
  kind: 'inside',
  networkId: 'net',
  address,
  publicAddress: null,
  isGateway: false,
  as: 'vm',
  ...rest,
});
const web = vm('10.0.0.5', { publicAddress: '198.51.100.5' });
const app = vm('10.0.0.6', { publicAddress: '198.51.100.6' });
const job = vm('10.0.0.7');
const far = vm('10.9.0.5', { networkId: 'far', publicAddress: '198.51.100.9' });
const farJob = vm('10.9.0.7', { networkId: 'far' });
const outside: End = { kind: 'outside', address: '192.0.2.2' };

const rule = (id: string, rest: Partial<ResolvedRule> = {}): ResolvedRule => ({
  id,
  networkId: 'net',
  direction: 'ingress',
  action: 'allow',
  protocols: ['tcp'],
  sources: ['0.0.0.0/0'],
  sourcePorts: [],
  destinations: ['0.0.0.0/0'],
  destinationPorts: [],
  ...rest,
});
const everything = { protocols: ['tcp', 'udp', 'icmp'] };
const out = rule('out', { direction: 'egress', ...everything });

const ask = (rules: ResolvedRule[], question: Partial<Question> = {}) =>
  tracePacket(
    {
      from: app,
      to: web,
      protocol: 'tcp',
      destinationPort: 22,
      sourcePort: 50_000,
      ...question,
    },
    rules,
  );
const verdict = (rules: ResolvedRule[], question: Partial<Question> = {}) => {
  const trace = ask(rules, question);
  return [trace?.allowed, trace?.reason, ...(trace?.steps ?? []).map((step) => step.rule?.id)];
};

describe('tracePacket with rules', () => {
  it('denies a packet that no rule allows, in both directions', () => {
    expect(verdict([])).toEqual([false, 'no_rule_allows', undefined, undefined]);
    expect(verdict([out])).toEqual([false, 'no_rule_allows', 'out', undefined]);
    expect(verdict([rule('in')])).toEqual([false, 'no_rule_allows', undefined, 'in']);
    expect(verdict([out, rule('in')])).toEqual([true, 'allowed', 'out', 'in']);
  });

  it('prefers a rule that denies over rules that allow, in any order', () => {
    const deny = rule('m-deny', { action: 'deny' });
    const rules = [out, rule('a-allow'), deny, rule('z-allow')];
    const expected = [false, 'denied_by_rule', 'out', 'm-deny'];
    expect(verdict(rules)).toEqual(expected);
    expect(verdict(rules.toReversed())).toEqual(expected);
  });

  it('names the matching rule with the smallest id', () => {
    expect(verdict([rule('b'), out, rule('c'), rule('a')])).toEqual([true, 'allowed', 'out', 'a']);
  });

  it('ignores rules of other networks and of the other direction', () => {
    expect(verdict([out, rule('in', { networkId: 'far' })])[0]).toBe(false);
    expect(verdict([out, rule('deny', { action: 'deny', networkId: 'far' }), rule('in')])[0]).toBe(
      true,
    );
  });

  it.each<[Partial<ResolvedRule>, boolean]>([
    [{ protocols: ['udp', 'icmp'] }, false],
    [{ sources: ['10.0.0.6/32'] }, true],
    [{ sources: ['10.0.0.6'] }, true],
    [{ sources: ['10.0.0.0/30', '10.0.0.8/29'] }, false],
    [{ sources: ['10.0.0.0/30', '10.0.0.4/30'] }, true],
    [{ sources: [] }, false],
    [{ destinations: [] }, false],
    [{ destinations: ['10.0.0.5/32'] }, true],
    [{ destinations: ['198.51.100.5/32'] }, false],
    [{ destinationPorts: ['22'] }, true],
    [{ destinationPorts: ['23', '1-21'] }, false],
    [{ destinationPorts: ['20-22'] }, true],
    [{ sourcePorts: ['22'] }, false],
    [{ sourcePorts: ['50000-50000'] }, true],
    [{ sourcePorts: ['*'] }, true],
  ])('applies a rule with %j (allowed: %s)', (rest, expected) => {
    expect(verdict([out, rule('in', rest)])[0]).toBe(expected);
  });

  it('ignores the ports of a rule for icmp', () => {
    const ping = rule('ping', { protocols: ['tcp', 'icmp'], destinationPorts: ['80'] });
    expect(verdict([out, ping], { protocol: 'icmp' })[0]).toBe(true);
    expect(verdict([out, ping])[0]).toBe(false);
  });
});

describe('tracePacket between endpoints', () => {
  const open = [out, rule('in', everything)];

  it('applies egress rules to outside and ingress rules from outside', () => {
    expect(verdict([out], { from: job, to: outside })).toEqual([true, 'allowed', 'out']);
    expect(ask([rule('in')], { from: outside })?.steps).toMatchObject([
      { direction: 'ingress', source: '192.0.2.2', destination: '10.0.0.5', allowed: true },
    ]);
  });

  it('finds no route from outside to a private address or a VM without a public one', () => {
    const expected = [false, 'no_route'];
    expect(verdict(open, { from: outside, to: job })).toEqual(expected);
    expect(verdict(open, { from: outside, to: { ...web, as: 'private' } })).toEqual(expected);
    expect(verdict(open, { from: outside, to: outside })).toEqual(expected);
  });

  it('connects networks only through public addresses', () => {
    const farIn = rule('far-in', { networkId: 'far' });
    expect(ask([out, farIn], { from: app, to: far })).toMatchObject({
      allowed: true,
      steps: [
        { networkId: 'net', direction: 'egress', source: '10.0.0.6', destination: '198.51.100.9' },
        { networkId: 'far', direction: 'ingress', source: '198.51.100.6', destination: '10.9.0.5' },
      ],
    });
    const expected = [false, 'no_route'];
    expect(verdict(open, { to: farJob })).toEqual(expected);
    expect(verdict(open, { to: { ...far, as: 'private' } })).toEqual(expected);
  });

  it('reaches the public address of a VM in the same network from outside', () => {
    expect(ask(open, { to: { ...web, as: 'public' } })?.steps).toMatchObject([
      { direction: 'egress', source: '10.0.0.6', destination: '198.51.100.5' },
      { direction: 'ingress', source: '198.51.100.6', destination: '10.0.0.5' },
    ]);
  });

  it('returns undefined if the receiver sees the address of the host', () => {
    expect(ask(open, { from: job, to: far })).toBeUndefined();
    expect(ask(open, { from: job, to: { ...web, as: 'public' } })).toBeUndefined();
  });

  it('lets the gateway reply to an echo regardless of the rules', () => {
    const gateway = vm('10.0.0.1', { isGateway: true, as: 'private' });
    expect(verdict([], { to: gateway, protocol: 'icmp' })).toEqual([true, 'answered_by_gateway']);
    expect(verdict([], { to: gateway })).toEqual([false, 'no_rule_allows', undefined, undefined]);
  });
});
