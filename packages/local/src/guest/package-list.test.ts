import { expect, test } from 'vitest';
import { chooseClosure, nameAndVersion, parseDownloads } from './package-list.ts';

const DEPENDS = `linux-image-cloud-arm64
  Depends: linux-image-6.1.0-9-cloud-arm64
agent
  PreDepends: init-system-helpers
  Depends: libc6
  Depends: zlib1g
linux-image-6.1.0-9-cloud-arm64
  Depends: kmod
 |Depends: initramfs-tools
  Depends: <linux-initramfs-tool>
    dracut
libc6
  Depends: libgcc-s1
  Depends: <libvirtual>
libgcc-s1
  Depends: libc6
init-system-helpers
  Depends: libperl
`;

test('only libraries and the kernel behind a meta package are followed', () => {
  expect(chooseClosure(['linux-image-cloud-arm64', 'agent'], DEPENDS)).toEqual([
    'agent',
    'libc6',
    'libgcc-s1',
    'linux-image-6.1.0-9-cloud-arm64',
    'linux-image-cloud-arm64',
    'zlib1g',
  ]);
});

test('the list of what apt would fetch is read with checksums', () => {
  const sha256 = 'ab'.repeat(32);
  const text = `Reading lists\n'http://x/a_1%3a2_arm64.deb' a_1%3a2_arm64.deb 812 SHA256:${sha256}\n`;
  expect(parseDownloads(text)).toEqual([{ file: 'a_1%3a2_arm64.deb', sha256 }]);
});

test('a package is requested in the version that was listed', () => {
  expect(nameAndVersion({ file: 'a_1%3a2+b~c_arm64.deb' })).toBe('a=1:2+b~c');
});
