import { fail, pathOf, type Stored } from './simulated-parts.ts';

/** A program that has a volume open, such as QEMU. */
export type SimulatedClient = {
  /** Replaces the content of the volume, with the lock, as librbd does: a client that is alive hands the lock over. */
  write(content: string): void;
  /** Gives back the lock. */
  close(): void;
  /** Ends the program as if it had been killed: its lock stays. */
  kill(): void;
};

/** Opens a volume that the client is allowed to open. */
export function openVolume(
  volume: Stored,
  { address, isFenced }: { address: string; isFenced: () => boolean },
): SimulatedClient {
  volume.watchers.add(address);
  return {
    write: (content) => {
      // A client that was fenced stays useless after the fence is lifted.
      if (!volume.watchers.has(address) || isFenced())
        fail('fenced', `The client ${address} was fenced.`);
      const { locker } = volume;
      if (locker !== null && locker !== address && !volume.watchers.has(locker))
        fail('denied', `The client ${locker} left the lock of ${pathOf(volume)} behind.`);
      Object.assign(volume, { locker: address, content });
    },
    close: () => {
      volume.watchers.delete(address);
      if (volume.locker === address) volume.locker = null;
    },
    kill: () => {
      volume.watchers.delete(address);
    },
  };
}
