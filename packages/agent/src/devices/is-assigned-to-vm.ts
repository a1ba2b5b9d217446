import type { Devices } from '../host-driver.ts';

/** Returns whether the device book assigns the device to a VM. */
export function isAssignedToVm(devices: Pick<Devices, 'list'>) {
  return async (address: string): Promise<boolean> =>
    (await devices.list()).some((device) => device.address === address);
}
