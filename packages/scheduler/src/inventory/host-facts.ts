import type { Inventory__Output } from '@gantry/proto/generated/gantry/v1/Inventory';
import { type SeenDevice, seenDevices } from '../health/seen-device.ts';

/**
 * The facts of a host that the isolation of its VMs depends on. An operator must accept a change of
 * them. Facts that VMs, drivers or agent upgrades change in normal operation are not included. Stored
 * in the database.
 */
export type HostFacts = {
  /** Each text is empty if the host does not report it. */
  kernel: string;
  commandLine: string;
  firmware: string;
  /** `translated`, `identity` or `off`. */
  iommu: string;
  /** By address. */
  devices: DeviceFacts[];
};

export type DeviceFacts = {
  address: string;
  /** The ids of vendor and device, then those of the subsystem if any: "10de:2235 10de:145a". */
  ids: string;
  /** Empty if it cannot be read, for example while a VM has the drive. */
  serial: string;
  /**
   * Null while the device is in no group, for example before a driver was bound for the first time.
   * The number itself may change at every boot.
   */
  iommuGroup: number | null;
  /** Other devices: not the functions of the same card, which may join late, and not the bridges. */
  iommuGroupOthers: string[];
};

const OFF = 'off';

export function factsOf(inventory: Inventory__Output): HostFacts {
  const { software } = inventory;
  const devices = [...seenDevices(inventory).values()].map(deviceFactsOf);
  return {
    kernel: software?.kernel ?? '',
    commandLine: software?.commandLine ?? '',
    firmware: software?.firmware ?? '',
    // An agent that reports the command line also reports an IOMMU if there is one.
    iommu: software?.iommu || (software?.commandLine ? OFF : ''),
    devices: devices.sort((a, b) => (a.address < b.address ? -1 : 1)),
  };
}

function deviceFactsOf(device: SeenDevice): DeviceFacts {
  const { vendorId, deviceId, subsystemVendorId, subsystemDeviceId } = device;
  const own = new Set([...device.functions, ...device.bridges]);
  const subsystem = subsystemVendorId && ` ${subsystemVendorId}:${subsystemDeviceId}`;
  return {
    address: device.address,
    ids: `${vendorId}:${deviceId}${subsystem}`,
    serial: device.serial,
    iommuGroup: device.iommuGroup ?? null,
    iommuGroupOthers: device.iommuGroupOthers.filter((other) => !own.has(other)).sort(),
  };
}

/** Returns the facts now. Values that cannot be read now are taken from `accepted`. */
export function completeFacts(accepted: HostFacts, now: HostFacts): HostFacts {
  const known = byAddress(accepted);
  return {
    kernel: now.kernel || accepted.kernel,
    commandLine: now.commandLine || accepted.commandLine,
    firmware: now.firmware || accepted.firmware,
    iommu: now.iommu || accepted.iommu,
    devices: now.devices.map((device) => {
      const before = known.get(device.address);
      if (!before) return device;
      const { iommuGroup, iommuGroupOthers } = device.iommuGroup === null ? before : device;
      return { ...device, serial: device.serial || before.serial, iommuGroup, iommuGroupOthers };
    }),
  };
}

/** Returns one line for each difference. A value that one side does not have is no difference. */
export function differences(accepted: HostFacts, now: HostFacts): string[] {
  const before = byAddress(accepted);
  const after = byAddress(now);
  const addresses = [...new Set([...before.keys(), ...after.keys()])].sort();
  return [
    ...change('kernel', accepted.kernel, now.kernel),
    ...change('command line', accepted.commandLine, now.commandLine),
    ...change('firmware', accepted.firmware, now.firmware),
    // IOMMU groups appear with drivers, so an IOMMU may appear late. Its loss is a difference.
    ...change('IOMMU', accepted.iommu === OFF ? '' : accepted.iommu, now.iommu),
    ...addresses.flatMap((address) =>
      deviceDifferences(address, before.get(address), after.get(address)),
    ),
  ];
}

function deviceDifferences(
  address: string,
  before: DeviceFacts | undefined,
  now: DeviceFacts | undefined,
): string[] {
  if (!now) return [`${address}: gone`];
  if (!before) return [`${address}: new, ${now.ids}`];
  const inGroups = before.iommuGroup !== null && now.iommuGroup !== null;
  const others = ({ iommuGroupOthers }: DeviceFacts) => iommuGroupOthers.join(' ') || 'nothing';
  return [
    ...change(address, before.ids, now.ids),
    ...change(`${address}: serial number`, before.serial, now.serial),
    ...(inGroups
      ? change(`${address}: shares its IOMMU group with`, others(before), others(now))
      : []),
  ];
}

function change(what: string, before: string, now: string): string[] {
  return before === now || before === '' || now === '' ? [] : [`${what}: ${before} → ${now}`];
}

function byAddress({ devices }: HostFacts): Map<string, DeviceFacts> {
  return new Map(devices.map((device) => [device.address, device]));
}
