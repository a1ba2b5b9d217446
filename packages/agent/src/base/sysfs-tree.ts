import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/**
 * A sysfs tree for tests and simulated servers. Paths are relative to the root; a value is text,
 * bytes or `{ link: target }`.
 */
export type SysfsTree = Record<string, string | Uint8Array | { link: string }>;

/**
 * Writes the tree to a directory. Each text attribute ends with a newline, as in the kernel's
 * sysfs.
 */
export async function writeSysfsTree(root: string, tree: SysfsTree): Promise<void> {
  for (const [path, value] of Object.entries(tree)) {
    const full = join(root, path);
    await mkdir(dirname(full), { recursive: true });
    if (typeof value === 'string') await writeFile(full, `${value}\n`);
    else if (value instanceof Uint8Array) await writeFile(full, value);
    else await symlink(value.link, full);
  }
}

/** Returns the tree of one PCI device, with its links. */
export function pciTree(address: string, attributes: SysfsTree): SysfsTree {
  const entries = Object.entries(attributes);
  return Object.fromEntries(
    entries.map(([name, value]) => [`bus/pci/devices/${address}/${name}`, value]),
  );
}
