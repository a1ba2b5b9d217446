import { makeNetwork, makeSpec } from '@gantry/agent/testing/make-spec';
import { beforeEach, expect, it } from 'vitest';
import { AgentUnderTest, until } from './testing/agent-under-test.ts';

/** Tests what becomes of the VMs of networks, which arrive apart from the spec. */

const member = (privateIpv4: string) => ({
  ...{ privateIpv4, mac: '02:00:00:00:00:09', hostIpv4: '192.0.2.9' },
});
const specWith = (number: number, ...networkIds: string[]) =>
  makeSpec(number, {
    networks: networkIds.map((id) => makeNetwork(id, { membersApart: true })),
  });

let host: AgentUnderTest;
beforeEach(async () => {
  host = new AgentUnderTest();
  await host.start();
});

const inForce = (networkId: string) =>
  host.driver.network.firewall?.networks
    ?.find(({ id }) => id === networkId)
    ?.neighbours.map(({ privateIpv4 }) => privateIpv4);
const untilInForce = (networkId: string, addresses: string[] | undefined) =>
  until(
    () => JSON.stringify(inForce(networkId)) === JSON.stringify(addresses),
    () => `in force are ${JSON.stringify(inForce(networkId))}`,
  );

it('a change of the VMs of a network is in force without a new spec', async () => {
  host.send(specWith(1, 'n'));
  await untilInForce('n', []);
  host.sendMembers('n', [member('10.0.0.8')]);
  await untilInForce('n', ['10.0.0.8']);
  host.sendMembers('n', [member('10.0.0.9')]);
  await untilInForce('n', ['10.0.0.9']);
  expect(host.report).toMatchObject({ acceptedNumber: '1', firewallNumber: '1' });
});

it('a restarted agent knows them before a scheduler tells it again', async () => {
  host.send(specWith(1, 'n'));
  host.sendMembers('n', [member('10.0.0.8')]);
  await untilInForce('n', ['10.0.0.8']);
  host.kill();
  host.driver.reboot({ keepDomains: false });
  await host.start();
  host.send(specWith(2, 'n'));
  await until(() => host.report.firewallNumber === '2');
  expect(inForce('n')).toEqual(['10.0.0.8']);
});

it('those that arrive before the spec that names their network count', async () => {
  host.send(specWith(1));
  host.sendMembers('n', [member('10.0.0.8')]);
  host.send(specWith(2));
  await until(() => host.report.firewallNumber === '2');
  host.send(specWith(3, 'n'));
  await untilInForce('n', ['10.0.0.8']);
});

it('those of a network that the host left do not count when it comes back', async () => {
  host.send(specWith(1, 'n'));
  host.sendMembers('n', [member('10.0.0.8')]);
  await untilInForce('n', ['10.0.0.8']);
  host.send(specWith(2));
  await untilInForce('n', undefined);
  host.send(specWith(3, 'n'));
  await untilInForce('n', []);
});
