import { join } from 'node:path';
import { HostFailure } from '../base/failure.ts';
import { createQueue } from '../base/queue.ts';
import type { Cleaning, Device, Devices } from '../host-driver.ts';
import { deviceBook, entryFor } from './device-book.ts';

type StandInOptions = {
  directory: string;
  /** By address: the serial number, empty if the device has none. */
  serials: ReadonlyMap<string, string>;
};

/**
 * Devices that exist only in the device book, for trying Gantry on a machine without any. A VM is
 * recorded as having them, but its guest sees none. Each belongs to one VM at a time, and its
 * receipt has a method that says that nothing was cleaned.
 */
export function standInDevices({ directory, serials }: StandInOptions): Devices {
  const book = deviceBook(join(directory, 'stand-in-devices.json'));
  const enqueue = createQueue();
  const requireFor = async (device: Device) => {
    if (!serials.has(device.address)) {
      throw new HostFailure('device_missing', `there is no device ${device.address}`);
    }
    await entryFor(book, device);
  };

  return {
    list: () => book.list(),
    bind: (device) =>
      enqueue(async () => {
        await requireFor(device);
        await book.put(device);
      }),
    release: (device) =>
      enqueue(async (): Promise<Cleaning> => {
        await requireFor(device);
        await book.remove(device.address);
        const serial = serials.get(device.address) ?? '';
        return { serial, method: 'stand_in', failure: null };
      }),
  };
}
