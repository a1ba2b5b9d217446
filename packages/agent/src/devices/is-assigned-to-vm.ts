import type { Devices } from '../host-driver.ts';

/** Whether a VM has the device, as the host's own book says. */
export function isAssignedToVm(devices: Pick<Devices, 'list'>) {
  return async (address: string): Promise<boolean> =>
    (await devices.list()).some((device) => device.address === address);
}
