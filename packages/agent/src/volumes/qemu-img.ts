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
