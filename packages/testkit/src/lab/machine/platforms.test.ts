import { expect, test } from 'vitest';
import { readPlatform } from './platforms.ts';

const argumentsOf = (architecture: string, iommu?: string) =>
  readPlatform({ architecture, iommu }).machine.join(' ');

test('an x64 lab has an Intel IOMMU unless an AMD one is selected', () => {
  expect(argumentsOf('x64')).toContain('intel-iommu');
  expect(argumentsOf('x64', 'intel')).toContain('intel-iommu');
  expect(argumentsOf('x64', 'amd')).toContain('amd-iommu');
});

test('an arm64 lab has an SMMUv3', () => {
  expect(argumentsOf('arm64')).toContain('iommu=smmuv3');
});

test.each(['arm64', 'x64'])('the guest of an %s lab runs on KVM with a serial console', (name) => {
  const { guest, kernel } = readPlatform({ architecture: name, iommu: undefined });
  expect(guest.machine).toContain('accel=kvm');
  expect(kernel).toContain(`console=${guest.console}`);
});

test('an unknown IOMMU or architecture is refused with a message that names it', () => {
  expect(() => argumentsOf('x64', 'smmuv3')).toThrow(/"smmuv3"; set it to intel or amd/);
  expect(() => argumentsOf('arm64', 'amd')).toThrow(/unset it on arm64/);
  expect(() => argumentsOf('riscv64')).toThrow(/this machine is riscv64/);
});

test('the kernel of an x64 lab does not panic because a busy computer delays its timer', () => {
  expect(readPlatform({ architecture: 'x64', iommu: 'intel' }).kernel).toContain('no_timer_check');
});
