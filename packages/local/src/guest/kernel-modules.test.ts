import { expect, test } from 'vitest';
import { moduleName, orderModules, readDepends } from './kernel-modules.ts';

const modules = new Map(
  Object.entries({
    virtio: [],
    virtio_ring: ['virtio'],
    virtio_pci: ['virtio_ring', 'virtio'],
    unasked: [],
  }).map(([name, depends]) => [name, { file: `${name}.ko`, depends }]),
);

test('each module is listed once, after its dependencies, and built-in ones are left out', () => {
  expect(orderModules(['virtio_pci', 'ext4', 'virtio_ring'], modules)).toEqual([
    'virtio.ko',
    'virtio_ring.ko',
    'virtio_pci.ko',
  ]);
});

test('the dependencies of a module are read from its file', () => {
  const text = (line: string) => Buffer.from(`\x7fELF\0license=GPL\0${line}\0retpoline=Y\0`);
  expect(readDepends(text('depends=virtio-ring,virtio'))).toEqual(['virtio_ring', 'virtio']);
  expect(readDepends(text('depends='))).toEqual([]);
  expect(readDepends(text('alias=x'))).toEqual([]);
});

test.each(['a/virtio-rng.ko', 'a/virtio-rng.ko.xz', 'virtio_rng.ko.zst'])(
  'the module in %s is virtio_rng',
  (file) => {
    expect(moduleName(file)).toBe('virtio_rng');
  },
);
