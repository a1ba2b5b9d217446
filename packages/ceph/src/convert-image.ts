import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ExecError, exec } from '@gantry/daemon/exec';
import { GIB } from '@gantry/daemon/units';
import { QCOW2_HEADER_BYTES, readQcow2Size } from './headers/qcow2-header.ts';
import { readVmdkSize } from './headers/vmdk-header.ts';
import type { ImageFileFormat } from './storage-cluster.ts';
import { StorageError } from './storage-error.ts';

const CPU_SECONDS = 3600;
const MEMORY_BYTES = 2 * GIB;
const LARGEST_DISK_BYTES = 16_384 * GIB;
const WALL_MS = 2 * 3600_000;
/** Starts a program in a network namespace of its own, which needs no rights if users may have namespaces. */
const NO_NETWORK = ['unshare', '--user', '--map-current-user', '--net'];

type ImageFile = {
  file: string;
  format: ImageFileFormat;
  isOfTenant?: boolean;
  maxBytes?: number;
};

/**
 * Calls `work` with a raw file of the image's content, which is removed afterwards unless it is the image itself.
 *
 * An image file may be hostile. The header is checked before QEMU's program sees the file: the program gets no file that
 * names another one, and an option forbids it to open one. It has limits of processor time, memory, file size and time, and for files
 * of tenants no network.
 */
export async function withRawFile<Result>(
  { directory = tmpdir(), ...image }: ImageFile & { directory?: string },
  work: (raw: string) => Promise<Result>,
): Promise<Result> {
  const { format, isOfTenant = false } = image;
  const { source, sizeBytes } = await checkImage(image);
  if (format === 'raw') return work(source);
  const scratch = await mkdtemp(path.join(directory, 'gantry-image-'));
  try {
    const raw = path.join(scratch, 'raw');
    const args = ['convert', '-O', 'raw', openedAs(format, source), raw];
    await runQemuImg({ sizeBytes, isOfTenant, args });
    return await work(raw);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/**
 * Writes the image's content to a new qcow2 file, with the same care. Throws `full` if there is no space for it. The file contains only what QEMU's program has
 * written, so no header that a tenant has made reaches another program.
 */
export async function convertToQcow2(
  image: ImageFile & { to: string; signal?: AbortSignal },
): Promise<void> {
  const { format, to, isOfTenant = false, signal } = image;
  const { source, sizeBytes } = await checkImage(image);
  // In the format that hosts read: without compression, because every VM would decompress it.
  const args = ['convert', '-O', 'qcow2', '-o', 'compat=1.1', openedAs(format, source), to];
  await runQemuImg({ sizeBytes, isOfTenant, args, signal }).catch((error: StorageError) => {
    if (!error.message.includes('No space left on device')) throw error;
    throw new StorageError('full', 'There is no space for the image.', { cause: error });
  });
}

async function checkImage({ file, format, maxBytes = LARGEST_DISK_BYTES }: ImageFile) {
  const source = path.resolve(file);
  const sizeBytes = await readDiskSize(source, format);
  if (sizeBytes === 0 || sizeBytes > maxBytes)
    throw new StorageError(
      'failed',
      `The image file ${file} has a disk of ${sizeBytes} bytes; at most ${maxBytes} are allowed.`,
    );
  return { source, sizeBytes };
}

/** The file as QEMU's program is to open it, with the format that was checked and no other file. */
function openedAs(format: ImageFileFormat, filename: string): string {
  const file = { driver: 'file', filename };
  const opened =
    format === 'raw' ? { driver: format, file } : { driver: format, backing: null, file };
  return `json:${JSON.stringify(opened)}`;
}

/** Returns the size of the disk in an image file. Throws `failed` if it is not of the format, or names another file. */
export async function readDiskSize(file: string, format: ImageFileFormat): Promise<number> {
  const handle = await open(file).catch((cause: unknown) => {
    throw new StorageError('failed', `The image file ${file} cannot be read.`, { cause });
  });
  try {
    if (format === 'vmdk') return await readVmdkSize(file, handle);
    if (format === 'raw') return (await handle.stat()).size;
    const { buffer, bytesRead } = await handle.read(
      Buffer.alloc(QCOW2_HEADER_BYTES),
      0,
      QCOW2_HEADER_BYTES,
      0,
    );
    return readQcow2Size(file, buffer.subarray(0, bytesRead));
  } finally {
    await handle.close();
  }
}

type Run = {
  sizeBytes: number;
  isOfTenant: boolean;
  args: readonly string[];
  /** Ends the conversion. */
  signal?: AbortSignal | undefined;
};

async function runQemuImg({ sizeBytes, isOfTenant, args, signal }: Run): Promise<void> {
  const limits = [
    `--cpu=${CPU_SECONDS}`,
    `--as=${MEMORY_BYTES}`,
    `--fsize=${sizeBytes + GIB}`,
    '--core=0',
  ];
  const separate = isOfTenant ? NO_NETWORK : [];
  try {
    await exec('prlimit', [...limits, ...separate, 'qemu-img', ...args], {
      timeoutMs: WALL_MS,
      signal,
    });
  } catch (cause) {
    const reason =
      cause instanceof ExecError ? cause.stderr.split('\n').at(-1) || cause.reason : 'failed';
    throw new StorageError('failed', `The image file could not be converted: ${reason}`, { cause });
  }
}
