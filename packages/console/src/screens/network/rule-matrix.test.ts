import { expect, it } from 'vitest';
import { arrangeRules, describeTraffic, type Rule } from './rule-matrix.ts';

const rule = (part: Partial<Rule>): Rule => ({
  ...{ id: 'r', name: 'rule', direction: 'ingress', action: 'allow', state: 'active' },
  ...{ vpc_network_id: 'n-1', sources: [], source_ports: [], destinations: [] },
  ...{ destination_ports: [], protocols: ['tcp'], tags: {} },
  ...part,
});
const names = new Map([['n-1', 'backend']]);

it('an empty list of endpoints and an empty endpoint are both anywhere', () => {
  const matrix = arrangeRules(
    [rule({ name: 'a' }), rule({ name: 'b', sources: [{ cidr: '', resource_id: '' }] })],
    names,
  );
  expect(matrix.sources).toEqual(['Anywhere']);
  expect(matrix.at('Anywhere', 'Anywhere').map(({ name }) => name)).toEqual(['a', 'b']);
});

it('a rule with several endpoints is in every cell that it matters for, under names of resources', () => {
  const sources = [
    { cidr: '10.0.0.0/8', resource_id: '' },
    { cidr: '', resource_id: 'n-1' },
  ];
  const matrix = arrangeRules([rule({ sources }), rule({ name: 'all' })], names);
  expect(matrix.sources).toEqual(['Anywhere', '10.0.0.0/8', 'backend']);
  expect(matrix.at('backend', 'Anywhere')).toHaveLength(1);
  expect(matrix.at('Anywhere', 'Anywhere').map(({ name }) => name)).toEqual(['all']);
});

it('traffic is described by protocols and ports', () => {
  expect(
    describeTraffic(rule({ protocols: ['tcp', 'udp'], destination_ports: ['22', '80-90'] })),
  ).toBe('tcp, udp 22, 80-90');
});
