import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/**
 * For tests and simulated servers: attributes as text or bytes, links as `{ link: target }`, paths
 * below the root.
 */
export type SysfsTree = Record<string, string | Uint8Array | { link: string }>;

/** Writes a tree that imitates sysfs: each attribute ends in a newline, as the kernel's do. */
export async function writeSysfsTree(root: string, tree: SysfsTree): Promise<void> {
  for (const [path, value] of Object.entries(tree)) {
    const full = join(root, path);
    await mkdir(dirname(full), { recursive: true });
    if (typeof value === 'string') await writeFile(full, `${value}\n`);
    else if (value instanceof Uint8Array) await writeFile(full, value);
    else await symlink(value.link, full);
  }
}

/** The attributes of one PCI device, its links included. */
export function pciTree(address: string, attributes: SysfsTree): SysfsTree {
  const entries = Object.entries(attributes);
  return Object.fromEntries(
    entries.map(([name, value]) => [`bus/pci/devices/${address}/${name}`, value]),
  );
}
