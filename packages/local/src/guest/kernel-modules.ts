/** The description of a kernel module in its file. */
export type KernelModule = { file: string; depends: readonly string[] };

/**
 * The modules of Debian's kernel that a guest on QEMU needs. A name without a file is built into
 * the kernel.
 */
export const WANTED_MODULES: readonly string[] = [
  'virtio_pci',
  'virtio_blk',
  'virtio_net',
  'virtio_console',
  'virtio_rng',
  'isofs',
  'virtiofs',
  'ext4',
  'nvme',
  'button',
  'evdev',
];

/** File names have dashes and suffixes for compression; the kernel's names do not. */
export function moduleName(file: string): string {
  const base = file.slice(file.lastIndexOf('/') + 1);
  return base.replace(/\.ko(\.xz|\.zst|\.gz)?$/, '').replaceAll('-', '_');
}

/** Returns the names after "depends=" in the module's description. */
export function readDepends(content: Buffer): string[] {
  const mark = Buffer.from('\0depends=');
  const at = content.indexOf(mark);
  if (at < 0) return [];
  const start = at + mark.length;
  const text = content.toString('latin1', start, content.indexOf(0, start));
  return text.split(',').flatMap((name) => (name === '' ? [] : [name.replaceAll('-', '_')]));
}

/** Returns the files to load, each after its dependencies. */
export function orderModules(
  wanted: readonly string[],
  modules: ReadonlyMap<string, KernelModule>,
): string[] {
  const order = new Set<string>();
  const add = (name: string) => {
    const found = modules.get(name);
    if (!found || order.has(found.file)) return;
    for (const needed of found.depends) add(needed);
    order.add(found.file);
  };
  for (const name of wanted) add(name);
  return [...order];
}
