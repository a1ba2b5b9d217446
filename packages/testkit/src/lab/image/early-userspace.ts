import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { type CpioEntry, renderCpio } from '@gantry/local/guest/cpio';
import { readModules } from '@gantry/local/guest/initramfs';

/** The machine needs these modules to mount its root file system. */
const HOST_MODULES = ['virtio_pci', 'virtio_blk', 'crc32c_generic', 'ext4'];

/** The initramfs of the lab's machine. */
export function renderEarlyUserspace(root: string): Promise<Buffer> {
  return renderInitramfs(root, { init: 'lab/early-init', modules: HOST_MODULES });
}

/** A whole guest as an initramfs: it loads the modules, runs the script and powers off. */
export function renderGuest(
  root: string,
  { modules, script }: { modules: string[]; script: string },
): Promise<Buffer> {
  const work: CpioEntry = {
    ...{ kind: 'file', name: 'work', executable: true },
    content: Buffer.from(script),
  };
  return renderInitramfs(root, { init: 'lab/guest-init', modules, more: [work] });
}

/** An initramfs of busybox and of modules in the order in which they are loaded. */
async function renderInitramfs(
  root: string,
  { init, modules, more = [] }: { init: string; modules: string[]; more?: CpioEntry[] },
): Promise<Buffer> {
  const program = async (name: string, source: string): Promise<CpioEntry> => {
    return {
      kind: 'file',
      name,
      content: await readFile(path.join(root, source)),
      executable: true,
    };
  };
  const folders = ['bin', 'dev', 'modules', 'proc', 'root', 'run', 'sys'];
  return renderCpio([
    ...folders.map((name): CpioEntry => ({ kind: 'directory', name })),
    await program('bin/busybox', 'usr/bin/busybox'),
    await program('init', init),
    ...(await readModules(root, modules)),
    ...more,
  ]);
}
