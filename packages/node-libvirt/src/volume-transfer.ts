/**
 * The content of a storage volume as a stream. The protocol has flow control only for a whole
 * connection, so give each transfer its own connection.
 */
import type { CallOptions } from './calls.ts';
import type { Connection } from './connection.ts';
import { storageVolDownload, storageVolUpload } from './generated/procedures.ts';
import type { StorageVol } from './generated/types.ts';
import type { LibvirtStream } from './stream.ts';

export type TransferOptions = CallOptions & {
  /** The offset in the volume. The default is 0. */
  offset?: bigint | undefined;
  /** The number of bytes. The default is the rest of the volume. */
  length?: bigint | undefined;
};

/** Returns a writable stream. 'finish' means that the daemon has confirmed all data. */
export async function uploadVolume(
  connection: Connection,
  volume: StorageVol,
  options: TransferOptions = {},
): Promise<LibvirtStream> {
  const directions = { readable: false, writable: true };
  const args = argsOf(volume, options);
  return (await connection.openStream(storageVolUpload, args, { ...options, ...directions }))
    .stream;
}

/** Returns a readable stream. 'end' means that the daemon has read everything without an error. */
export async function downloadVolume(
  connection: Connection,
  volume: StorageVol,
  options: TransferOptions = {},
): Promise<LibvirtStream> {
  const directions = { readable: true, writable: false };
  const args = argsOf(volume, options);
  return (await connection.openStream(storageVolDownload, args, { ...options, ...directions }))
    .stream;
}

const argsOf = (vol: StorageVol, { offset = 0n, length = 0n }: TransferOptions) => ({
  vol,
  offset,
  length,
  flags: 0,
});
