import type { ProblemSeverity } from '@gantry/model/device-problem';
import type { DeviceKind } from '@gantry/model/host-states';
import type { SeenDevice } from './seen-device.ts';

/**
 * The rules that decide whether a device may take another VM. They need no driver of the vendor.
 * Operators can change thresholds and severities; docs/operators/settings.md lists the names.
 */
export type HealthRule = {
  name: string;
  /** The kind of devices that the rule applies to. */
  of: DeviceKind | 'any';
  /** A kind that the rule does not apply to, although it applies to any. */
  except?: DeviceKind;
  /** Returns null if the value cannot be read now. A known problem then stays. */
  measure: (device: SeenDevice) => number | null;
  /**
   * `level`: there is a problem while the measure is at or above the threshold.
   * `rise`: there is a problem once the measure has grown by the threshold since the previous
   * inventory, until an operator releases the device.
   */
  compares: 'level' | 'rise';
  threshold: number;
  severity: ProblemSeverity | 'off';
  /** The text for operators. `amount` is the level or the rise. */
  message: (device: SeenDevice, amount: number) => string;
};

/** With these drivers the vendor's tool cannot query the device, so no warning means nothing. */
const UNASKABLE_DRIVERS = ['', 'vfio-pci'];

export const HEALTH_RULES: readonly HealthRule[] = [
  {
    name: 'lost',
    of: 'any',
    compares: 'level',
    threshold: 1,
    severity: 'block',
    measure: ({ lost }) => (lost ? 1 : 0),
    message: () => 'it is no longer on the PCI bus: its config space reads as all ones',
  },
  {
    name: 'link_narrow',
    of: 'any',
    compares: 'level',
    threshold: 1,
    severity: 'block',
    measure: ({ link }) => link && link.maxWidth - link.width,
    message: ({ link }) =>
      `its PCIe link uses ${link?.width} of ${link?.maxWidth} lanes: reseat it`,
  },
  {
    // This is only a warning, because an idle device reduces its link speed to save power.
    name: 'link_slow',
    of: 'any',
    compares: 'level',
    threshold: 0.5,
    severity: 'warn',
    measure: ({ link }) => link && link.maxSpeedGts - link.speedGts,
    message: ({ link }) =>
      `its PCIe link runs at ${link?.speedGts} of ${link?.maxSpeedGts} GT/s; this is normal only while idle`,
  },
  {
    name: 'aer_fatal',
    of: 'any',
    compares: 'rise',
    threshold: 1,
    severity: 'block',
    measure: ({ aer }) => aer && Number(aer.fatal),
    message: (_, amount) => `${counted(amount, 'fatal PCIe error')}: the link is not reliable`,
  },
  {
    name: 'aer_nonfatal',
    of: 'any',
    compares: 'rise',
    threshold: 1,
    severity: 'block',
    measure: ({ aer }) => aer && Number(aer.nonfatal),
    message: (_, amount) => `${counted(amount, 'uncorrected PCIe error')}: transactions were lost`,
  },
  {
    name: 'aer_correctable',
    of: 'any',
    compares: 'rise',
    threshold: 100,
    severity: 'warn',
    measure: ({ aer }) => aer && Number(aer.correctable),
    message: (_, amount) => `${counted(amount, 'corrected PCIe error')} since the last inventory`,
  },
  {
    // Without a reset the agent cannot prove that the device is clean after a VM. A drive is erased
    // instead.
    name: 'no_reset',
    of: 'any',
    except: 'drive',
    compares: 'level',
    threshold: 1,
    severity: 'block',
    measure: ({ resetMethods }) => (resetMethods.length === 0 ? 1 : 0),
    message: () => 'the kernel has no way to reset it',
  },
  {
    // The agent knows that the device would not work in a guest, however healthy it is.
    name: 'unsupported',
    of: 'any',
    compares: 'level',
    threshold: 1,
    severity: 'block',
    measure: ({ attributes }) => (attributes['unsupported'] === undefined ? 0 : 1),
    message: ({ attributes }) => `it ${attributes['unsupported']}`,
  },
  {
    // The agent would refuse to assign the device, for example because of its IOMMU group.
    name: 'unassignable',
    of: 'any',
    compares: 'level',
    threshold: 1,
    severity: 'block',
    measure: ({ attributes }) => (attributes['unassignable'] === undefined ? 0 : 1),
    message: ({ attributes }) => `it ${attributes['unassignable']}`,
  },
  {
    name: 'vendor_warning',
    of: 'any',
    compares: 'level',
    threshold: 1,
    severity: 'block',
    measure: ({ warnings, driver }) =>
      warnings.length === 0 && UNASKABLE_DRIVERS.includes(driver) ? null : warnings.length,
    message: ({ warnings }) => `its vendor's tool reports: ${warnings.join('; ')}`,
  },
  {
    name: 'drive_critical',
    of: 'drive',
    compares: 'level',
    threshold: 1,
    severity: 'block',
    measure: ({ health }) => health['critical_warning'] ?? null,
    message: (_, amount) =>
      `its SMART log has a critical warning: 0x${amount.toString(16).padStart(2, '0')}`,
  },
  {
    name: 'drive_worn',
    of: 'drive',
    compares: 'level',
    threshold: 95,
    severity: 'warn',
    measure: ({ health }) => health['percentage_used'] ?? null,
    message: (_, amount) => `${amount} % of its estimated life is used`,
  },
  {
    name: 'drive_worn_out',
    of: 'drive',
    compares: 'level',
    threshold: 100,
    severity: 'block',
    measure: ({ health }) => health['percentage_used'] ?? null,
    message: (_, amount) => `${amount} % of its estimated life is used: replace it`,
  },
  {
    name: 'drive_spare',
    of: 'drive',
    compares: 'level',
    threshold: 1,
    severity: 'block',
    measure: ({ health: { spare_threshold: limit, available_spare: left } }) =>
      limit === undefined || left === undefined ? null : limit - left,
    message: ({ health }) =>
      `${health['available_spare']} % of its spare capacity is left, below its own limit of ${health['spare_threshold']} %`,
  },
  {
    name: 'media_errors',
    of: 'drive',
    compares: 'rise',
    threshold: 1,
    severity: 'warn',
    measure: ({ health }) => health['media_errors'] ?? null,
    message: (_, amount) => `${counted(amount, 'media error')}: data could not be recovered`,
  },
];

const counted = (amount: number, what: string) => `${amount} new ${what}${amount === 1 ? '' : 's'}`;
