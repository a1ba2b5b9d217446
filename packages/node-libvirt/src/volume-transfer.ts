/**
 * The content of a storage volume as a stream. The protocol's only flow control is the connection's
 * own, so a transfer belongs on a connection that serves nothing else meanwhile.
 */
import type { CallOptions } from './calls.ts';
import type { Connection } from './connection.ts';
import { storageVolDownload, storageVolUpload } from './generated/procedures.ts';
import type { StorageVol } from './generated/types.ts';
import type { LibvirtStream } from './stream.ts';

export type TransferOptions = CallOptions & {
  /** Where in the volume it begins. Default: at its start. */
  offset?: bigint | undefined;
  /** How much of the volume it concerns. Default: all the rest. */
  length?: bigint | undefined;
};

/** Writable. Its 'finish' means that the daemon has written and confirmed everything. */
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

/** Readable. Its 'end' means that the daemon has read everything without an error. */
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
