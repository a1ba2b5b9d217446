import { readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * The process that has a device open through VFIO, such as "qemu-system-x86 (4711)", or null. Nobody
 * may reset or give back a device under it.
 */
export async function whoHasOpen(procRoot: string, group: string): Promise<string | null> {
  const file = `/dev/vfio/${group}`;
  for (const pid of (await readdir(procRoot)).filter((name) => /^\d+$/.test(name))) {
    const descriptors = join(procRoot, pid, 'fd');
    // A process may end while it is looked at.
    for (const descriptor of await readdir(descriptors).catch(() => [])) {
      const target = await readlink(join(descriptors, descriptor)).catch(() => '');
      if (target !== file) continue;
      const name = await readFile(join(procRoot, pid, 'comm'), 'utf8').catch(() => 'a process');
      return `${name.trim()} (${pid})`;
    }
  }
  return null;
}
