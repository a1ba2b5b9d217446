import type { GuestHardware } from '../../host-driver.ts';
import type { Platform } from './domain-definition.ts';

/**
 * Returns the platform with the hardware that a VM keeps. Between KVM and emulation nothing is kept:
 * the CPU of the one does not exist with the other.
 */
export function keepHardware(platform: Platform, kept: GuestHardware | null): Platform {
  if (kept === null || kept.accel !== platform.accel) return platform;
  const { machineType, cpu, loader, nvramTemplate } = kept;
  return { ...platform, machineType, cpu, firmware: { loader, nvramTemplate } };
}
