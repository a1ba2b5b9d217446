import type { ProblemSeverity } from '@gantry/model/device-problem';
import type { DeviceKind } from '@gantry/model/host-states';
import type { SeenDevice } from './seen-device.ts';

/**
 * What is looked at to tell whether a device may have another VM, without any driver of its vendor.
 * Operators change thresholds and severities; docs/operators/settings.md lists the names for them.
 */
export type HealthRule = {
  name: string;
  /** Which devices it is asked of. */
  of: DeviceKind | 'any';
  /** What it looks at. Null: not to be seen now, so nothing is known to be better than it was. */
  measure: (device: SeenDevice) => number | null;
  /**
   * Level: a problem while the measure reaches the threshold. Rise: one when it grew by the threshold
   * since the inventory before, and from then on until an operator has seen to the device.
   */
  compares: 'level' | 'rise';
  threshold: number;
  severity: ProblemSeverity | 'off';
  /** For people. `amount` is the level, or the rise. */
  message: (device: SeenDevice, amount: number) => string;
};

/** Drivers that keep the vendor's tool from asking: silence then says nothing. */
const UNASKABLE_DRIVERS = ['', 'vfio-pci'];

export const HEALTH_RULES: readonly HealthRule[] = [
  {
    ...{ name: 'lost', of: 'any', compares: 'level', threshold: 1, severity: 'block' },
    measure: ({ pci }) => (pci.lost ? 1 : 0),
    message: () => 'it fell off the PCI bus: its config space reads as all ones',
  },
  {
    ...{ name: 'link_narrow', of: 'any', compares: 'level', threshold: 1, severity: 'block' },
    measure: ({ pci: { link } }) => link && link.maxWidth - link.width,
    message: ({ pci: { link } }) =>
      `its PCIe link uses ${link?.width} of ${link?.maxWidth} lanes: reseat it`,
  },
  {
    // A warning only: an idle device slows its link down to save power.
    ...{ name: 'link_slow', of: 'any', compares: 'level', threshold: 0.5, severity: 'warn' },
    measure: ({ pci: { link } }) => link && link.maxSpeedGts - link.speedGts,
    message: ({ pci: { link } }) =>
      `its PCIe link runs at ${link?.speedGts} of ${link?.maxSpeedGts} GT/s, as it may to save power while idle`,
  },
  {
    ...{ name: 'aer_fatal', of: 'any', compares: 'rise', threshold: 1, severity: 'block' },
    measure: ({ pci: { aer } }) => aer && Number(aer.fatal),
    message: (_, amount) => `${counted(amount, 'fatal PCIe error')}: its link cannot be trusted`,
  },
  {
    ...{ name: 'aer_nonfatal', of: 'any', compares: 'rise', threshold: 1, severity: 'block' },
    measure: ({ pci: { aer } }) => aer && Number(aer.nonfatal),
    message: (_, amount) => `${counted(amount, 'uncorrected PCIe error')}: transactions were lost`,
  },
  {
    ...{ name: 'aer_correctable', of: 'any', compares: 'rise', threshold: 100, severity: 'warn' },
    measure: ({ pci: { aer } }) => aer && Number(aer.correctable),
    message: (_, amount) => `${counted(amount, 'corrected PCIe error')} since the last inventory`,
  },
  {
    // Without a reset nothing could ever prove that it is clean after a VM.
    ...{ name: 'no_reset', of: 'gpu', compares: 'level', threshold: 1, severity: 'block' },
    measure: ({ pci }) => (pci.resetMethods.length === 0 ? 1 : 0),
    message: () => 'the kernel knows no way to reset it',
  },
  {
    ...{ name: 'vendor_warning', of: 'gpu', compares: 'level', threshold: 1, severity: 'block' },
    measure: ({ vendorWarnings, pci }) =>
      vendorWarnings.length === 0 && UNASKABLE_DRIVERS.includes(pci.driver)
        ? null
        : vendorWarnings.length,
    message: ({ vendorWarnings }) => `its vendor's tool says: ${vendorWarnings.join('; ')}`,
  },
  {
    ...{ name: 'drive_critical', of: 'drive', compares: 'level', threshold: 1, severity: 'block' },
    measure: ({ driveHealth }) => driveHealth?.criticalWarning ?? null,
    message: (_, amount) =>
      `its SMART log has a critical warning: 0x${amount.toString(16).padStart(2, '0')}`,
  },
  {
    ...{ name: 'drive_worn', of: 'drive', compares: 'level', threshold: 95, severity: 'warn' },
    measure: ({ driveHealth }) => driveHealth?.percentageUsed ?? null,
    message: (_, amount) => `${amount} % of its estimated life are used`,
  },
  {
    ...{
      name: 'drive_worn_out',
      of: 'drive',
      compares: 'level',
      threshold: 100,
      severity: 'block',
    },
    measure: ({ driveHealth }) => driveHealth?.percentageUsed ?? null,
    message: (_, amount) => `${amount} % of its estimated life are used: replace it`,
  },
  {
    ...{ name: 'drive_spare', of: 'drive', compares: 'level', threshold: 1, severity: 'block' },
    measure: ({ driveHealth }) =>
      driveHealth && driveHealth.spareThreshold - driveHealth.availableSpare,
    message: ({ driveHealth }) =>
      `${driveHealth?.availableSpare} % of its spare capacity are left, below its own limit of ${driveHealth?.spareThreshold} %`,
  },
  {
    ...{ name: 'media_errors', of: 'drive', compares: 'rise', threshold: 1, severity: 'warn' },
    measure: ({ driveHealth }) => driveHealth && Number(driveHealth.mediaErrors),
    message: (_, amount) => `${counted(amount, 'media error')}: data could not be recovered`,
  },
];

const counted = (amount: number, what: string) => `${amount} new ${what}${amount === 1 ? '' : 's'}`;
