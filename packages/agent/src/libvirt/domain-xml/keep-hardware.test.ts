import { describe, expect, it } from 'vitest';
import type { GuestHardware } from '../../host-driver.ts';
import { describeDomain } from './describe-domain.ts';
import { keepHardware } from './keep-hardware.ts';
import { readDomain } from './read-domain.ts';
import { renderDomain } from './render-domain.ts';
import { ARM_KVM, emulated, gpuServer, vmOfType, X86_KVM } from './testing/gpu-server.ts';

const KEPT: GuestHardware = {
  machineType: 'pc-q35-6.2',
  cpu: 'host-passthrough',
  accel: 'kvm',
  loader: '/var/lib/gantry-data/firmware/abc.fd',
  nvramTemplate: '/var/lib/gantry-data/firmware/def.fd',
};

const VM = vmOfType({ cpuCores: 2, memoryGb: 4, gpuCount: 0, diskCount: 0 });
const hardwareOf = (platform: typeof X86_KVM) =>
  readDomain(renderDomain(describeDomain(VM, gpuServer(platform)))).hardware;

describe('the hardware of a guest', () => {
  it('is the newest of its host while it keeps none', () => {
    expect(hardwareOf(keepHardware(X86_KVM, null))).toMatchObject({
      machineType: 'q35',
      loader: X86_KVM.firmware.loader,
    });
  });

  it.each([
    [X86_KVM, KEPT],
    [ARM_KVM, { ...KEPT, machineType: 'virt-6.2' }],
    [emulated(ARM_KVM), { ...KEPT, accel: 'tcg' as const, cpu: 'cortex-a72' }],
    [emulated(X86_KVM), { ...KEPT, accel: 'tcg' as const, cpu: 'maximum' }],
  ])('is written into the definition and read back as it was kept', (platform, kept) => {
    expect(hardwareOf(keepHardware(platform, kept))).toEqual(kept);
  });

  it('is not kept between KVM and emulation, which do not have the same CPUs', () => {
    const platform = emulated(X86_KVM);
    expect(keepHardware(platform, KEPT)).toEqual(platform);
  });
});
