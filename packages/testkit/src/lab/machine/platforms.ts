import { labArchitecture } from '../image/lab-architecture.ts';

/**
 * Everything in which the lab differs between architectures: how QEMU emulates a server with an IOMMU
 * whose kernel has KVM, and how that server's own QEMU starts a guest. Names of architectures are Node's.
 */
type Platform = {
  emulator: string;
  machine: readonly string[];
  /** The UEFI firmware of a server that boots from its own disk. */
  firmware: string;
  /** Arguments of the server's kernel. */
  kernel: string;
  /** The guest that the server runs: the arguments of its QEMU and its kernel's console. */
  guest: { machine: string; console: string };
  /** Only a device tree can give the PCI host bridge another domain number than 0000. */
  hasDeviceTree: boolean;
};

type Iommu = { device: string; kernel: string };

/**
 * Interrupt remapping is on: without it the kernel refuses VFIO. `caching-mode` makes the Intel driver
 * announce new mappings, as it must for an emulated IOMMU. The AMD driver needs no kernel argument, but
 * `dma-remap`, which QEMU 10.0 does not have and 11.1 has: without it, drives behind a port do not work.
 */
const X64_IOMMUS: Record<'intel' | 'amd', Iommu> = {
  intel: { device: 'intel-iommu,intremap=on,caching-mode=on', kernel: 'intel_iommu=on' },
  amd: { device: 'amd-iommu,intremap=on,dma-remap=on', kernel: '' },
};

type Choice = { architecture: string; iommu: string | undefined };

const ofThisProcess = (): Choice => ({
  architecture: labArchitecture(),
  iommu: process.env['GANTRY_LAB_IOMMU'] || undefined,
});

/** `iommu` selects the IOMMU of x64, `intel` if it is undefined. arm64 has only one, SMMUv3. */
export function readPlatform({ architecture, iommu }: Choice = ofThisProcess()): Platform {
  if (architecture === 'x64') return x64(iommu ?? 'intel');
  if (architecture !== 'arm64') {
    throw new Error(`The lab runs on arm64 and x64; this machine is ${architecture}.`);
  }
  if (iommu !== undefined) {
    throw new Error('GANTRY_LAB_IOMMU selects an IOMMU of x64; unset it on arm64.');
  }
  return ARM64;
}

const ARM64: Platform = {
  emulator: 'qemu-system-aarch64',
  machine: [
    ...['-machine', 'virt,gic-version=3,iommu=smmuv3,virtualization=on'],
    ...['-cpu', 'neoverse-n1', '-accel', 'tcg,thread=multi,tb-size=1024'],
  ],
  firmware: '/usr/share/qemu-efi-aarch64/QEMU_EFI.fd',
  kernel: 'console=ttyAMA0',
  guest: {
    machine: 'qemu-system-aarch64 -machine virt,gic-version=3,accel=kvm -cpu host',
    console: 'ttyAMA0',
  },
  hasDeviceTree: true,
};

function x64(name: string): Platform {
  if (name !== 'intel' && name !== 'amd') {
    throw new Error(`GANTRY_LAB_IOMMU is "${name}"; set it to intel or amd.`);
  }
  const iommu = X64_IOMMUS[name];
  return {
    emulator: 'qemu-system-x86_64',
    machine: [
      // This CPU has SVM, which QEMU emulates, so that the server has KVM with either IOMMU.
      ...['-machine', 'q35', '-cpu', 'max,-la57', '-accel', 'tcg,tb-size=1024'],
      ...['-device', iommu.device],
    ],
    firmware: '/usr/share/ovmf/OVMF.fd',
    // The kernel panics if it counts too few ticks of its timer in a tenth of a second, as on a busy
    // computer: "timer doesn't work through Interrupt-remapped IO-APIC".
    kernel: `console=ttyS0 no_timer_check ${iommu.kernel}`.trim(),
    guest: {
      machine: 'qemu-system-x86_64 -machine q35,accel=kvm -cpu host',
      console: 'ttyS0',
    },
    hasDeviceTree: false,
  };
}
