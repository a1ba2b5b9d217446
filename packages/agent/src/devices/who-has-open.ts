import { readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';

/** Returns a process that has the file open, such as "qemu-system-x86 (4711)", or null. */
export async function whoHasOpen(procRoot: string, file: string): Promise<string | null> {
  for (const pid of (await readdir(procRoot)).filter((name) => /^\d+$/.test(name))) {
    const descriptors = join(procRoot, pid, 'fd');
    // A process may end while its files are listed.
    for (const descriptor of await readdir(descriptors).catch(() => [])) {
      const target = await readlink(join(descriptors, descriptor)).catch(() => '');
      if (target !== file) continue;
      const name = await readFile(join(procRoot, pid, 'comm'), 'utf8').catch(() => 'a process');
      return `${name.trim()} (${pid})`;
    }
  }
  return null;
}
