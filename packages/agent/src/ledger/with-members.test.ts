import { expect, it } from 'vitest';
import { makeInterface, makeNetwork, makeSpec, makeVm } from '../testing/make-spec.ts';
import type { LedgerContent } from './ledger.ts';
import { networksWithMembers, withMembers } from './with-members.ts';

const neighbour = (privateIpv4: string) => ({
  ...{ privateIpv4, mac: '02:00:00:00:00:09', hostIpv4: '192.0.2.9' },
});
const apart = makeNetwork('n', { membersApart: true });
const spec = makeSpec(1, { networks: [apart] });
const addresses = (networks: { neighbours: { privateIpv4: string }[] }[]) =>
  networks.map(({ neighbours }) => neighbours.map(({ privateIpv4 }) => privateIpv4));

it('the VMs of a network are those that arrived apart from the spec', () => {
  const members = new Map([['n', [neighbour('10.0.0.8')]]]);
  expect(addresses(networksWithMembers(spec, { last: null, members }))).toEqual([['10.0.0.8']]);
});

it('until they arrive, those of the last spec count', () => {
  const last = makeSpec(1, { networks: [{ ...apart, neighbours: [neighbour('10.0.0.7')] }] });
  const known = networksWithMembers(spec, { last, members: new Map() });
  expect(addresses(known)).toEqual([['10.0.0.7']]);
  expect(addresses(networksWithMembers(spec, { last: null, members: new Map() }))).toEqual([[]]);
});

it('the VMs of this host are not among them', () => {
  const vm = makeVm('vm', {
    interfaces: [makeInterface('i', { networkId: 'n', privateIpv4: '10.0.0.5/24' })],
  });
  const members = new Map([['n', [neighbour('10.0.0.5'), neighbour('10.0.0.6')]]]);
  const here = makeSpec(1, { vms: [vm], networks: [apart] });
  expect(addresses(networksWithMembers(here, { last: null, members }))).toEqual([['10.0.0.6']]);
});

it('a scheduler of an earlier version names them in the spec', () => {
  const whole = makeSpec(1, {
    networks: [makeNetwork('n', { neighbours: [neighbour('10.0.0.7')] })],
  });
  const members = new Map([['n', [neighbour('10.0.0.8')]]]);
  expect(addresses(networksWithMembers(whole, { last: null, members }))).toEqual([['10.0.0.7']]);
});

it('a change of the VMs alone keeps the spec in the ledger as it is', () => {
  const ledger: LedgerContent = { version: 1, spec, vms: {} };
  const changed = withMembers(ledger, new Map([['n', [neighbour('10.0.0.8')]]]));
  expect(changed.spec).toMatchObject({ number: spec.number, hash: spec.hash });
  expect(addresses(changed.spec?.networks ?? [])).toEqual([['10.0.0.8']]);
  expect(withMembers({ version: 1, spec: null, vms: {} }, new Map()).spec).toBeNull();
});
