import { chmod, copyFile, rename } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** The program of this name says why it takes the place of QEMU. */
export const WRAPPER = fileURLToPath(new URL('x64/qemu-system-x86_64', import.meta.url));

/** The program that an x64 server starts as QEMU, and where the wrapper then finds QEMU itself. */
export const EMULATOR = '/usr/bin/qemu-system-x86_64';
export const WRAPPED = '/usr/bin/kvm-spice';

export async function wrapEmulator(root: string): Promise<void> {
  const emulator = path.join(root, EMULATOR);
  await rename(emulator, path.join(root, WRAPPED));
  await copyFile(WRAPPER, emulator);
  await chmod(emulator, 0o755);
}
