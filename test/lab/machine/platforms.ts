/** How QEMU emulates a server with an IOMMU, whose kernel can itself run VMs, by Node's names. */
type Platform = {
  emulator: string;
  machine: readonly string[];
  /** Of the kernel's command line. */
  kernel: string;
};

const PLATFORMS: Record<'arm64' | 'x64', Platform> = {
  arm64: {
    emulator: 'qemu-system-aarch64',
    machine: [
      ...['-machine', 'virt,gic-version=3,iommu=smmuv3,virtualization=on'],
      ...['-cpu', 'neoverse-n1', '-accel', 'tcg,thread=multi,tb-size=1024'],
    ],
    kernel: 'console=ttyAMA0',
  },
  x64: {
    emulator: 'qemu-system-x86_64',
    machine: [
      ...['-machine', 'q35', '-cpu', 'max,-la57', '-accel', 'tcg,tb-size=1024'],
      ...['-device', 'intel-iommu,intremap=on,caching-mode=on'],
    ],
    kernel: 'console=ttyS0 intel_iommu=on',
  },
};

export function readPlatform(nodeName: string = process.arch): Platform {
  if (nodeName === 'arm64' || nodeName === 'x64') return PLATFORMS[nodeName];
  throw new Error(`The lab runs on arm64 and x64; this machine is ${nodeName}.`);
}
