import { mkdir, readFile, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { replaceFile, unlessMissing } from '@gantry/daemon/durable-file';
import { HostFailure } from '../base/failure.ts';
import { createQueue } from '../base/queue.ts';
import type { Device } from '../host-driver.ts';

/**
 * Records on disk which VM has which device. The agent writes an entry before it changes a device,
 * so that a device which is being assigned or cleaned is never considered free.
 */
export type DeviceBook<Entry extends Device> = {
  list(): Promise<Entry[]>;
  find(address: string): Promise<Entry | undefined>;
  put(entry: Entry): Promise<void>;
  remove(address: string): Promise<void>;
};

export function deviceBook<Entry extends Device>(file: string): DeviceBook<Entry> {
  /** Serialises changes, because each one rewrites the whole file. */
  const enqueue = createQueue();

  const read = async (): Promise<Entry[]> =>
    JSON.parse((await unlessMissing(readFile(file, 'utf8'))) ?? '[]');
  const write = async (entries: readonly Entry[]) => {
    if (entries.length === 0) return await rm(file, { force: true });
    await mkdir(dirname(file), { recursive: true, mode: 0o711 });
    await replaceFile(file, JSON.stringify(entries), 0o600);
  };
  const without = async (address: string) =>
    (await read()).filter((entry) => entry.address !== address);

  return {
    list: () => enqueue(read),
    find: (address) =>
      enqueue(async () => (await read()).find((entry) => entry.address === address)),
    put: (entry) => enqueue(async () => write([...(await without(entry.address)), entry])),
    remove: (address) => enqueue(async () => write(await without(address))),
  };
}

/**
 * Returns the entry of a device of this VM, or undefined if it has none. Throws if another VM has
 * it.
 */
export async function entryFor<Entry extends Device>(
  book: DeviceBook<Entry>,
  { address, vmId }: Device,
): Promise<Entry | undefined> {
  const entry = await book.find(address);
  if (entry && entry.vmId !== vmId) {
    throw new HostFailure('device_in_use', `${address} is bound for VM ${entry.vmId}`);
  }
  return entry;
}
