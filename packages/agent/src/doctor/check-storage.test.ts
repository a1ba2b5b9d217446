import { afterEach, expect, it } from 'vitest';
import { checkStorageNetwork } from './check-storage.ts';
import { doctorHosts } from './testing/doctor-hosts.ts';

const { make, remove } = doctorHosts();
afterEach(remove);

const MODULE = { 'usr/lib/x86_64-linux-gnu/qemu/block-rbd.so': '' };
const PROFILE = 'etc/apparmor.d/abstractions/libvirt-qemu';
const check = async (root: Record<string, string>, addresses = ['10.0.0.5']) =>
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
  expect(await check(MODULE, ['10.0.0.6'])).toMatchObject([
    { severity: 'fail', found: 'no interface of this host has 10.0.0.5' },
  ]);
});

it('a QEMU without its module for Ceph is a failure that names the package', async () => {
  const [finding] = await check({});
  expect(finding).toMatchObject({
    severity: 'fail',
    advice: expect.stringContaining('qemu-block-extra'),
  });
});

it('an AppArmor profile that hides the settings for Ceph is a warning', async () => {
  expect(await check({ ...MODULE, [PROFILE]: '  /etc/ceph/ceph.conf r,\n' })).toMatchObject([
    { severity: 'warn' },
  ]);
  expect(await check({ ...MODULE, [PROFILE]: '  /etc/ceph/*.conf r,\n' })).toMatchObject([
    { severity: 'ok' },
  ]);
});
