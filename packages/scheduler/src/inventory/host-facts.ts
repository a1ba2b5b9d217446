import type { Inventory__Output } from '@gantry/proto/generated/gantry/v1/Inventory';
import type { PciDevice__Output } from '@gantry/proto/generated/gantry/v1/PciDevice';

/**
 * What of a host must not change unseen, because how well its VMs are kept apart hangs on it. What
 * VMs, drivers and upgrades of the agent change by themselves is not among it. Kept in the database.
 */
export type HostFacts = {
  /** All empty where the host does not say. */
  kernel: string;
  commandLine: string;
  firmware: string;
  /** Translated, identity or off. */
  iommu: string;
  /** GPUs and drives, by address. */
  devices: DeviceFacts[];
};

export type DeviceFacts = {
  address: string;
  /** Vendor and device, then those of the subsystem where it has them: 10de:2235 10de:145a. */
  ids: string;
  /** Empty where it cannot be read, as while a VM has the drive. */
  serial: string;
  /** Null while it is in none, as before a driver was ever bound. Its number is the kernel's whim. */
  iommuGroup: number | null;
  /** Strangers: neither its card's functions, which may join late, nor the bridges above it. */
  iommuGroupOthers: string[];
};

const OFF = 'off';

export function factsOf({ software, gpus, nvmes }: Inventory__Output): HostFacts {
  const devices = [
    ...gpus.map(({ pci }) => ({ pci, serial: '' })),
    ...nvmes.map(({ pci, serial }) => ({ pci, serial })),
  ].flatMap(({ pci, serial }) => (pci ? [deviceFactsOf(pci, serial)] : []));
  return {
    kernel: software?.kernel ?? '',
    commandLine: software?.commandLine ?? '',
    firmware: software?.firmware ?? '',
    // An agent that tells the command line would tell of an IOMMU too.
    iommu: software?.iommu || (software?.commandLine ? OFF : ''),
    devices: devices.sort((a, b) => (a.address < b.address ? -1 : 1)),
  };
}

function deviceFactsOf(pci: PciDevice__Output, serial: string): DeviceFacts {
  const own = new Set([...pci.functions, ...pci.bridges]);
  const subsystem = pci.subsystemVendorId && ` ${pci.subsystemVendorId}:${pci.subsystemDeviceId}`;
  return {
    address: pci.address,
    ids: `${pci.vendorId}:${pci.deviceId}${subsystem}`,
    serial,
    iommuGroup: pci.iommuGroup ?? null,
    iommuGroupOthers: pci.iommuGroupOthers.filter((other) => !own.has(other)).sort(),
  };
}

/** The facts now, with what cannot be seen now as it was. */
export function learnt(accepted: HostFacts, now: HostFacts): HostFacts {
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

/** How a host differs from what was accepted, a sentence each. What one of them lacks is no difference. */
export function differences(accepted: HostFacts, now: HostFacts): string[] {
  const before = byAddress(accepted);
  const after = byAddress(now);
  const addresses = [...new Set([...before.keys(), ...after.keys()])].sort();
  return [
    ...change('kernel', accepted.kernel, now.kernel),
    ...change('command line', accepted.commandLine, now.commandLine),
    ...change('firmware', accepted.firmware, now.firmware),
    // Groups come with drivers, so an IOMMU may show late; one that went away is missed.
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
