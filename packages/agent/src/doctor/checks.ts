import { checkBandwidth } from './check-bandwidth.ts';
import { checkBars, checkGroups, checkLinks, checkLost, checkStandIns } from './check-devices.ts';
import { checkEnrolment, checkSchedulers, checkSpace } from './check-fleet.ts';
import {
  checkLibvirt,
  checkProbeVm,
  checkQemu,
  checkVhostNet,
  checkVirtualization,
} from './check-hypervisor.ts';
import { checkInterrupts, checkIommu, checkVfio } from './check-iommu.ts';
import { checkHugepages } from './check-memory.ts';
import {
  checkBridgeFilter,
  checkNameServers,
  checkNftables,
  checkStorageNetwork,
  checkUplink,
} from './check-network.ts';
import { checkAppArmor, checkClock, checkLockdown, checkRoot, checkSwap } from './check-system.ts';
import type { Check, DoctorHost } from './doctor-host.ts';
import { checkSharedVolumes } from './storage/check-shared-volumes.ts';

type NamedCheck = readonly [name: string, check: Check];

/** All checks of a host, in the order in which the findings should be fixed. */
export function checksOf({ kinds }: Pick<DoctorHost, 'kinds'>): readonly NamedCheck[] {
  const ofKinds = kinds.flatMap(({ checks = [] }) => checks);
  return [...BEFORE_DEVICES, ...ofKinds, ...OF_ALL_DEVICES, ...AFTER_DEVICES];
}

const BEFORE_DEVICES: readonly NamedCheck[] = [
  ['user', checkRoot],
  ['virtualization', checkVirtualization],
  ['IOMMU', checkIommu],
  ['interrupt remapping', checkInterrupts],
  ['vfio-pci', checkVfio],
  ['kernel lockdown', checkLockdown],
  ['stand-ins', checkStandIns],
];

const OF_ALL_DEVICES: readonly NamedCheck[] = [
  ['devices', checkLost],
  ['IOMMU groups', checkGroups],
  ['memory regions', checkBars],
  ['PCIe links', checkLinks],
];

const AFTER_DEVICES: readonly NamedCheck[] = [
  ['hugepages', checkHugepages],
  ['swap', checkSwap],
  ['libvirt', checkLibvirt],
  ['QEMU', checkQemu],
  ['vhost-net', checkVhostNet],
  ['AppArmor', checkAppArmor],
  ['probe VM', checkProbeVm],
  ['nftables', checkNftables],
  ['bridge filter', checkBridgeFilter],
  ['uplink', checkUplink],
  ['bandwidth', checkBandwidth],
  ['name servers', checkNameServers],
  ['storage network', checkStorageNetwork],
  ['space', checkSpace],
  ['shared volumes', checkSharedVolumes],
  ['clock', checkClock],
  ['enrolment', checkEnrolment],
  ['schedulers', checkSchedulers],
];
