import { expect, it } from 'vitest';

const script = new URL('../../scripts/debian-packages.mjs', import.meta.url).href;
const { missingForLibvirt, whyNoLab, whyNotInstallable } = await import(script);

it('a package counts as missing if none of its files exists', () => {
  const packages = { one: ['/a', '/b'], two: ['/c'], three: ['/d'] };
  const exists = (file: string) => ['/b', '/d'].includes(file);
  expect(missingForLibvirt({ packages, exists })).toEqual(['two']);
});

it('the packages that an empty machine lacks include QEMU and libvirt', () => {
  const missing = missingForLibvirt({ exists: () => false });
  expect(missing).toEqual(expect.arrayContaining(['libvirt-daemon-system', 'qemu-utils', 'ovmf']));
});

it.each([
  [{ hasApt: false, userId: 0 }, /neither Debian nor Ubuntu/],
  [{ hasApt: true, userId: 1000 }, /root/],
  [{ hasApt: true, userId: 0 }, undefined],
])('%j says why nothing can be installed: %s', (machine, reason) => {
  const said = whyNotInstallable(machine);
  if (reason) expect(said).toMatch(reason);
  else expect(said).toBeUndefined();
});

it.each([
  [{ release: 'ID=ubuntu\nID_LIKE=debian\n', architecture: 'arm64' }, /not Debian/],
  [{ release: 'NAME="Debian"\nID=debian\n', architecture: 'riscv64' }, /arm64 and x64/],
  [{ release: 'NAME="Debian"\nID=debian\n', architecture: 'x64' }, undefined],
])('%j says why there is no lab: %s', (machine, reason) => {
  const said = whyNoLab(machine);
  if (reason) expect(said).toMatch(reason);
  else expect(said).toBeUndefined();
});
