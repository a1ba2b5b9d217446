/** A kernel module as its own file describes it. */
export type KernelModule = { file: string; depends: readonly string[] };

/**
 * What a guest on QEMU needs and Debian's kernel has as a module. A name that is not among the
 * modules is built into the kernel.
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

/** File names and the kernel's own names differ in dashes, and in how the file is compressed. */
export function moduleName(file: string): string {
  const base = file.slice(file.lastIndexOf('/') + 1);
  return base.replace(/\.ko(\.xz|\.zst|\.gz)?$/, '').replaceAll('-', '_');
}

/** The names after "depends=" in a module's description. */
export function readDepends(content: Buffer): string[] {
  const mark = Buffer.from('\0depends=');
  const at = content.indexOf(mark);
  if (at < 0) return [];
  const start = at + mark.length;
  const text = content.toString('latin1', start, content.indexOf(0, start));
  return text.split(',').flatMap((name) => (name === '' ? [] : [name.replaceAll('-', '_')]));
}

/** The files to load, each after those it depends on. */
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
