import { chmod } from 'node:fs/promises';
import { HostFailure } from '../base/failure.ts';
import type { RunProgram } from '../base/run-program.ts';
import type { CachedImage } from '../images/image-format.ts';

export type DiskFile = { path: string; format: 'raw' | 'qcow2' };

/** For copying an image into a device, which is as slow as its disks. */
const COPY_TIMEOUT_MS = 1_800_000;

/**
 * Returns whether an emulator has the file open for reading or writing. QEMU's locks tell: then the
 * file can be opened for reading but not for writing. It is opened as raw, because the locks do not
 * depend on the content; so this works for a damaged file and changes nothing.
 */
export async function isLocked(run: RunProgram, path: string): Promise<boolean> {
  try {
    await run('qemu-io', ['-f', 'raw', '-c', 'quit', path]);
    return false;
  } catch {
    await run('qemu-img', ['info', '-U', '-f', 'raw', path]);
    return true;
  }
}

/** Takes QEMU's locks, and therefore fails if the file was opened meanwhile. */
export async function resizeFile(
  run: RunProgram,
  { path, format, sizeBytes }: DiskFile & { sizeBytes: number },
): Promise<void> {
  await run('qemu-img', ['resize', '-q', '-f', format, path, String(sizeBytes)]);
}

/** Makes an empty file that takes as much space as what is written to it, or replaces one that is there. */
export async function makeQcow2(
  run: RunProgram,
  { path, sizeBytes }: { path: string; sizeBytes: number },
): Promise<void> {
  await run('qemu-img', ['create', '-q', '-f', 'qcow2', path, String(sizeBytes)]);
  await chmod(path, 0o600);
}

/** Copying all of a large disk takes hours. */
const FILE_COPY_TIMEOUT_MS = 14_400_000;

/**
 * Copies the content of a disk into a sparse raw file that exists, is empty, and is at least as large. QEMU's locks keep
 * every other program from writing to the disk meanwhile: it fails with `disk_in_use` if one has it open for writing. A
 * file system that can share blocks between files does so.
 */
export async function copyIntoFile(
  run: RunProgram,
  { from, to, signal }: { from: DiskFile; to: string; signal: AbortSignal },
): Promise<void> {
  const how = ['-C', '-n', '--target-is-zero', '-f', from.format, '-O', 'raw', from.path, to];
  const options = { timeoutMs: FILE_COPY_TIMEOUT_MS, signal };
  await run('qemu-img', ['convert', ...how], options).catch((error: unknown) => {
    const message = error instanceof Error ? error.message : '';
    if (/Failed to get .* lock/.test(message)) {
      throw new HostFailure('disk_in_use', `${from.path} is open`, { cause: error });
    }
    if (message.includes('No space left on device')) {
      throw new HostFailure('storage_full', `no space is left for ${to}`, { cause: error });
    }
    throw error;
  });
}

/**
 * How much a sparse copy of the disk takes: what a qcow2 file would, because for a raw file `qemu-img` reports the whole size.
 * Reads it also while an emulator has it open.
 */
export async function measureCopy(run: RunProgram, { path, format }: DiskFile): Promise<number> {
  const args = ['measure', '-U', '--output=json', '-f', format, '-O', 'qcow2', path];
  const reply: unknown = JSON.parse(await run('qemu-img', args));
  const required = reply instanceof Object && 'required' in reply ? reply.required : undefined;
  if (typeof required !== 'number') {
    throw new HostFailure('storage_failed', `qemu-img cannot tell how large ${path} is`);
  }
  return required;
}

/** Returns what is not a hole of a part of a raw file, in the order of the content. */
export async function listData(
  run: RunProgram,
  { path, offset, length }: { path: string; offset: number; length: number },
): Promise<{ offset: number; length: number }[]> {
  const part = [`--start-offset=${offset}`, `--max-length=${length}`];
  const reply = await run('qemu-img', ['map', '-U', '--output=json', ...part, '-f', 'raw', path]);
  const extents = JSON.parse(reply) as { start: number; length: number; zero: boolean }[];
  return extents
    .filter(({ zero }) => !zero)
    .map((extent) => ({ offset: extent.start, length: extent.length }));
}

/** The device must read as zeroes: only the data of the image is written. */
export async function copyIntoDevice(
  run: RunProgram,
  { image, device }: { image: CachedImage; device: string },
): Promise<void> {
  // Bypasses the page cache: when it returns, the device has the data, and guests keep their
  // memory.
  const how = ['-n', '--target-is-zero', '-t', 'none', '-f', image.format, '-O', 'host_device'];
  await run('qemu-img', ['convert', ...how, image.path, device], { timeoutMs: COPY_TIMEOUT_MS });
}
