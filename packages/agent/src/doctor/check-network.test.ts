import { afterEach, describe, expect, it } from 'vitest';
import {
  checkBridgeFilter,
  checkNameServers,
  checkNftables,
  checkStorageNetwork,
  checkUplink,
} from './check-network.ts';
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

describe('name servers of guests', () => {
  const check = async (problems: Record<string, string | null>, uplink: string | null = 'ens1') =>
    checkNameServers(
      await make({
        settings: { uplink: uplink ?? undefined },
        readNameServers: async () => Object.keys(problems),
        askNameServer: async (server) => problems[server] ?? null,
      }),
    );

  it('that reply are fine', async () => {
    expect(await check({ '192.0.2.1': null, '192.0.2.2': null })).toMatchObject([
      { severity: 'ok', found: '192.0.2.1, 192.0.2.2' },
    ]);
  });

  it('are a warning if one does not reply, and a failure if none does', async () => {
    expect(await check({ '192.0.2.1': 'no reply', '192.0.2.2': null })).toMatchObject([
      { severity: 'warn', found: '192.0.2.1: no reply' },
    ]);
    expect(await check({ '192.0.2.1': 'no reply' })).toMatchObject([{ severity: 'fail' }]);
  });

  it('are a failure if there are none, unless guests reach nothing outside anyway', async () => {
    expect(await check({})).toMatchObject([{ severity: 'fail', check: 'name servers' }]);
    expect(await check({}, null)).toEqual([]);
  });
});

const MODULE = {
  'usr/lib/x86_64-linux-gnu/qemu/block-rbd.so': '',
  'usr/bin/ceph-fuse': '',
};
const PROFILE = 'etc/apparmor.d/abstractions/libvirt-qemu';
const checkStorage = async (root: Record<string, string>, addresses = ['10.0.0.5']) =>
  checkStorageNetwork(
    await make({
      ...{ root, settings: { storageAddress: '10.0.0.5' } },
      readAddresses: () => addresses,
    }),
  );

it('a host without a storage address is fine and gets no VMs with volumes', async () => {
  expect(await checkStorageNetwork(await make())).toMatchObject([{ severity: 'ok' }]);
});

it('an address that no interface has is a failure', async () => {
  expect(await checkStorage(MODULE, ['10.0.0.6'])).toMatchObject([
    { severity: 'fail', found: 'no interface of this host has 10.0.0.5' },
  ]);
});

it('a QEMU without its module for Ceph is a failure that names the package', async () => {
  const [finding] = await checkStorage({});
  expect(finding).toMatchObject({
    severity: 'fail',
    advice: expect.stringContaining('qemu-block-extra'),
  });
});

it('an AppArmor profile that hides the settings for Ceph is a warning', async () => {
  expect(await checkStorage({ ...MODULE, [PROFILE]: '  /etc/ceph/ceph.conf r,\n' })).toMatchObject([
    { severity: 'warn' },
  ]);
  expect(await checkStorage({ ...MODULE, [PROFILE]: '  /etc/ceph/*.conf r,\n' })).toMatchObject([
    { severity: 'ok' },
  ]);
});

it('a host that cannot mount shared volumes is warned, and the package is named', async () => {
  const { 'usr/bin/ceph-fuse': _, ...without } = MODULE;
  const [finding] = await checkStorage(without);
  expect(finding).toMatchObject({
    severity: 'warn',
    advice: expect.stringContaining('ceph-fuse'),
  });
});
