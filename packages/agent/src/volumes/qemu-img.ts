import type { RunProgram } from '../base/run-program.ts';
import type { CachedImage } from '../images/image-format.ts';

export type DiskFile = { path: string; format: 'raw' | 'qcow2' };

/** For the copy of an image into a device, which is as slow as its disks. */
const COPY_TIMEOUT_MS = 1_800_000;

/**
 * Whether a guest has the file open, to write or to read, as QEMU's locks tell: then it cannot be
 * opened to write, and still be looked at. Locks are the file's, whatever lies in it or below it, so
 * it is opened as raw: also where it is damaged, and without a change to it.
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

/** Takes QEMU's locks itself, and so fails for a file that was opened meanwhile. */
export async function resizeFile(
  run: RunProgram,
  { path, format, sizeBytes }: DiskFile & { sizeBytes: number },
): Promise<void> {
  await run('qemu-img', ['resize', '-q', '-f', format, path, String(sizeBytes)]);
}

/** Into a device that reads as zeroes: only what the image holds is written. */
export async function copyIntoDevice(
  run: RunProgram,
  { image, device }: { image: CachedImage; device: string },
): Promise<void> {
  // Past the page cache: the answer means that the device has it, and no guest loses its memory to it.
  const how = ['-n', '--target-is-zero', '-t', 'none', '-f', image.format, '-O', 'host_device'];
  await run('qemu-img', ['convert', ...how, image.path, device], { timeoutMs: COPY_TIMEOUT_MS });
}
