import { checkBars, checkGroups, checkLinks, checkLost } from './check-devices.ts';
import { checkDrives, checkNvmeCli } from './check-drives.ts';
import { checkEnrolment, checkSchedulers, checkSpace } from './check-fleet.ts';
import { checkGpuDrivers, checkGpus, checkResets } from './check-gpus.ts';
import { checkLibvirt, checkQemu, checkVhostNet, checkVirtualization } from './check-hypervisor.ts';
import { checkInterrupts, checkIommu, checkVfio } from './check-iommu.ts';
import { checkHugepages } from './check-memory.ts';
import { checkBridgeFilter, checkNftables, checkUplink } from './check-network.ts';
import { checkAppArmor, checkClock, checkLockdown, checkRoot, checkSwap } from './check-system.ts';
import type { Check } from './doctor-host.ts';

/** All checks, in the order in which the findings should be fixed. */
export const CHECKS: readonly (readonly [name: string, check: Check])[] = [
  ['user', checkRoot],
  ['virtualization', checkVirtualization],
  ['IOMMU', checkIommu],
  ['interrupt remapping', checkInterrupts],
  ['vfio-pci', checkVfio],
  ['kernel lockdown', checkLockdown],
  ['GPUs', checkGpus],
  ['GPU drivers', checkGpuDrivers],
  ['GPU reset', checkResets],
  ['devices', checkLost],
  ['IOMMU groups', checkGroups],
  ['memory regions', checkBars],
  ['PCIe links', checkLinks],
  ['NVMe drives', checkDrives],
  ['nvme-cli', checkNvmeCli],
  ['hugepages', checkHugepages],
  ['swap', checkSwap],
  ['libvirt', checkLibvirt],
  ['QEMU', checkQemu],
  ['vhost-net', checkVhostNet],
  ['AppArmor', checkAppArmor],
  ['nftables', checkNftables],
  ['bridge filter', checkBridgeFilter],
  ['uplink', checkUplink],
  ['space', checkSpace],
  ['clock', checkClock],
  ['enrolment', checkEnrolment],
  ['schedulers', checkSchedulers],
];
