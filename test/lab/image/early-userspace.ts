import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { type CpioEntry, renderCpio } from '@gantry/local/guest/cpio';
import { readModules } from '@gantry/local/guest/initramfs';

const MODULES = ['virtio_pci', 'virtio_blk', 'crc32c_generic', 'ext4'];

/** The initramfs: busybox, and the modules without which there is no root file system. */
export async function renderEarlyUserspace(root: string): Promise<Buffer> {
  const program = async (name: string, source: string): Promise<CpioEntry> => {
    return {
      kind: 'file',
      name,
      content: await readFile(path.join(root, source)),
      executable: true,
    };
  };
  const folders = ['bin', 'dev', 'modules', 'root'];
  return renderCpio([
    ...folders.map((name): CpioEntry => ({ kind: 'directory', name })),
    await program('bin/busybox', 'usr/bin/busybox'),
    await program('init', 'lab/early-init'),
    ...(await readModules(root, MODULES)),
  ]);
}
