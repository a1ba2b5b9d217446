import { Sysfs } from '../base/sysfs.ts';
import type { InventoryDevice, InventoryHost, KindDriver } from './kinds/kind-driver.ts';
import { NO_NAMES } from './pci/pci-names.ts';
import { whyUnassignable } from './why-unassignable.ts';

export type DeviceOptions = Pick<InventoryHost, 'procRoot' | 'devRoot' | 'warn'> & {
  sysfsRoot: string;
  kinds: readonly KindDriver[];
  /** Absent: no VM has a device. */
  isAssigned?: InventoryHost['isAssigned'];
  /** Absent: devices are reported without names. */
  names?: InventoryHost['names'];
};

/** Reads the devices that VMs can get, by kind and PCI address, and their health. */
export async function readDevices(options: DeviceOptions): Promise<InventoryDevice[]> {
  const { sysfsRoot, kinds, ...others } = options;
  const unassigned = async () => false;
  const host = {
    ...{ names: NO_NAMES, isAssigned: unassigned, ...others },
    sysfs: new Sysfs(sysfsRoot),
  };
  const devices: InventoryDevice[] = [];
  for (const kind of kinds) devices.push(...(await kind.read(host)));
  const found = { sysfs: host.sysfs, kinds, devices };
  return await Promise.all(
    devices.map(async (device) => {
      const why = await whyUnassignable(found, device);
      if (why === null) return device;
      const unassignable = `${why.reason}: ${why.advice}`;
      return { ...device, attributes: { ...device.attributes, unassignable } };
    }),
  );
}
