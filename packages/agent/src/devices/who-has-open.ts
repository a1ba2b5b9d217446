import { readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';

/** Returns a process that has one of the files open, such as "qemu-system-x86 (4711)", or null. */
export async function whoHasOpen(
  procRoot: string,
  files: readonly string[],
): Promise<string | null> {
  for (const pid of (await readdir(procRoot)).filter((name) => /^\d+$/.test(name))) {
    const descriptors = join(procRoot, pid, 'fd');
    // A process may end while its files are listed.
    for (const descriptor of await readdir(descriptors).catch(() => [])) {
      const target = await readlink(join(descriptors, descriptor)).catch(() => '');
      // The kernel marks a file that was removed while it is open.
      if (!files.includes(target.replace(/ \(deleted\)$/, ''))) continue;
      const name = await readFile(join(procRoot, pid, 'comm'), 'utf8').catch(() => 'a process');
      return `${name.trim()} (${pid})`;
    }
  }
  return null;
}
