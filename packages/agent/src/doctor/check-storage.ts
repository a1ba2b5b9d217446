import { fail, ok, warn } from '../base/finding.ts';
import type { Check } from './doctor-host.ts';

/** Below the roots where distributions put QEMU's modules. */
const MODULES = [
  'usr/lib/x86_64-linux-gnu/qemu/block-rbd.so',
  'usr/lib/aarch64-linux-gnu/qemu/block-rbd.so',
  'usr/lib/qemu/block-rbd.so',
  'usr/lib64/qemu-kvm/block-rbd.so',
];
const PROFILE = 'etc/apparmor.d/abstractions/libvirt-qemu';

/** Whether the host can open volumes of storage clusters, if it is set up for them. */
export const checkStorageNetwork: Check = async ({ settings, files, readAddresses }) => {
  const { storageAddress } = settings;
  if (storageAddress === undefined) {
    return [ok('storage network', 'none: this host gets no VMs with volumes of a storage cluster')];
  }
  if (!readAddresses().includes(storageAddress)) {
    const found = `no interface of this host has ${storageAddress}`;
    const advice = 'set GANTRY_STORAGE_ADDRESS to the address from which it reaches the cluster';
    return [fail('storage network', found, advice)];
  }
  const found = await Promise.all(MODULES.map((path) => files.exists(path)));
  if (!found.includes(true)) {
    const missing = 'QEMU cannot open volumes of Ceph: block-rbd.so is missing';
    return [fail('storage network', missing, 'apt-get install qemu-block-extra')];
  }
  const profile = await files.text(PROFILE);
  if (profile !== undefined && !profile.includes('/etc/ceph/*.conf')) {
    const denied = 'the AppArmor profile of VMs does not let QEMU read /etc/ceph/gantry.conf';
    const advice = 'add "/etc/ceph/*.conf r," to /etc/apparmor.d/abstractions/libvirt-qemu';
    return [warn('storage network', denied, advice)];
  }
  return [ok('storage network', `${storageAddress}; QEMU can open volumes of Ceph`)];
};
