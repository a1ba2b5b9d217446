import { afterEach, describe, expect, it } from 'vitest';
import { checkBridgeFilter, checkNftables, checkUplink } from './check-network.ts';
import { doctorHosts } from './testing/doctor-hosts.ts';

const { make, remove } = doctorHosts();
afterEach(remove);

it('nftables that do not work are a failure with the reason', async () => {
  expect(await checkNftables(await make())).toMatchObject([{ severity: 'ok' }]);
  const run = () => Promise.reject(new Error('nft list: it is not installed'));
  expect(await checkNftables(await make({ run }))).toMatchObject([
    { severity: 'fail', found: 'nft list: it is not installed' },
  ]);
});

it.each([
  ['1', 'warn'],
  ['0', 'ok'],
])('bridge-nf-call-iptables=%s is %s', async (value, severity) => {
  const root = { 'proc/sys/net/bridge/bridge-nf-call-iptables': value };
  expect(await checkBridgeFilter(await make({ root }))).toMatchObject([{ severity }]);
  expect(await checkBridgeFilter(await make())).toMatchObject([{ severity: 'ok' }]);
});

describe('an uplink', () => {
  it.each([
    ['ens1', 'up', { severity: 'ok' }],
    ['ens1', 'unknown', { severity: 'ok' }],
    ['ens1', 'down', { severity: 'fail', found: 'ens1 is down' }],
    ['ens1', 'lowerlayerdown', { severity: 'fail' }],
    ['ens2', 'up', { severity: 'fail', found: 'there is no interface ens2' }],
    [undefined, 'up', { severity: 'warn' }],
  ])('%s beside an ens1 that is %s is %j', async (uplink, state, finding) => {
    const sys = { 'class/net/ens1/operstate': state };
    expect(await checkUplink(await make({ sys, settings: { uplink } }))).toMatchObject([finding]);
  });
});
