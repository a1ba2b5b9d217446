import { expect, it } from 'vitest';
import { missingForCeph } from './look-at-storage.ts';

it('a machine without Ceph is told every Debian package that a small cluster needs', () => {
  expect(missingForCeph(() => false).map(({ packageName }) => packageName)).toEqual([
    ...['ceph-mon', 'ceph-osd', 'ceph-common', 'python3-rados', 'python3-rbd', 'qemu-block-extra'],
  ]);
  expect(missingForCeph(() => true)).toEqual([]);
});
