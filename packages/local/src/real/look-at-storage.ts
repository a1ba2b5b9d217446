import { existsSync } from 'node:fs';
import type { MissingFile } from './describe-problems.ts';

/** What a small Ceph cluster needs, and QEMU and a scheduler to use it. */
const FOR_CEPH: readonly MissingFile[] = [
  { path: '/usr/bin/ceph-mon', packageName: 'ceph-mon' },
  { path: '/usr/bin/ceph-osd', packageName: 'ceph-osd' },
  { path: '/usr/bin/rbd', packageName: 'ceph-common' },
  { path: '/var/lib/dpkg/info/python3-rados.list', packageName: 'python3-rados' },
  { path: '/var/lib/dpkg/info/python3-rbd.list', packageName: 'python3-rbd' },
];
const QEMU_MODULES = ['aarch64', 'x86_64'].map(
  (each) => `/usr/lib/${each}-linux-gnu/qemu/block-rbd.so`,
);

export function missingForCeph(exists: (path: string) => boolean = existsSync): MissingFile[] {
  const missing = FOR_CEPH.filter(({ path }) => !exists(path));
  if (QEMU_MODULES.some(exists)) return missing;
  return [...missing, { path: 'block-rbd.so of QEMU', packageName: 'qemu-block-extra' }];
}
