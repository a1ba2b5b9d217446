import { mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceFile, unlessMissing } from '../durable-file.ts';
import { type Cleaning, type Device, type Devices, MachineFailure } from '../machine.ts';
import { oneAtATime } from '../one-at-a-time.ts';

type StandInOptions = {
  directory: string;
  /** By address: the serial number of a drive, empty for a GPU. */
  serials: ReadonlyMap<string, string>;
};

/**
 * Devices that only the books know, for trying Gantry on a machine without any: a VM gets the word
 * that it has them and sees none. They belong to one VM at a time and are given back with a receipt
 * whose method says that nothing was cleaned, because there was nothing.
 */
export function standInDevices({ directory, serials }: StandInOptions): Devices {
  const file = join(directory, 'stand-in-devices.json');
  /** Each change rewrites the whole file. */
  const inTurn = oneAtATime();

  const read = async (): Promise<Device[]> =>
    JSON.parse((await unlessMissing(readFile(file, 'utf8'))) ?? '[]');
  const write = async (devices: readonly Device[]) => {
    if (devices.length === 0) return await rm(file, { force: true });
    await mkdir(directory, { recursive: true, mode: 0o711 });
    await replaceFile(file, JSON.stringify(devices), 0o600);
  };
  /** The others that are bound, where this VM may have or clean the device. */
  const othersThan = async ({ address, vmId }: Device): Promise<Device[]> => {
    if (!serials.has(address)) {
      throw new MachineFailure('device_missing', `there is no device ${address}`);
    }
    const bound = await read();
    const holder = bound.find((device) => device.address === address);
    if (holder && holder.vmId !== vmId) {
      throw new MachineFailure('device_in_use', `${address} is bound for VM ${holder.vmId}`);
    }
    return bound.filter((device) => device.address !== address);
  };

  return {
    list: () => inTurn(read),
    bind: (device) => inTurn(async () => write([...(await othersThan(device)), device])),
    release: (device) =>
      inTurn(async (): Promise<Cleaning> => {
        await write(await othersThan(device));
        const serial = serials.get(device.address) ?? '';
        return { serial, method: 'stand_in', failure: null };
      }),
  };
}
