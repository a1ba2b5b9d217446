import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { readArchitecture } from '@gantry/local/guest/architecture';
import { BOOT_VOLUME, kernelLine, type Machine } from './qemu-arguments.ts';

/** Writes the folder from which the machine's firmware starts GRUB, and GRUB's configuration. */
export async function writeBootVolume(machine: Machine, bootLoader: string): Promise<void> {
  const folder = path.join(machine.file(BOOT_VOLUME), 'EFI/BOOT');
  await mkdir(folder, { recursive: true });
  await copyFile(bootLoader, path.join(folder, readArchitecture().bootFile));
  const lines = [
    'search --no-floppy --set=root --file /vmlinuz',
    `linux /vmlinuz ${kernelLine(machine)}`,
    'initrd /initrd.img',
    'boot',
  ];
  await writeFile(path.join(folder, 'grub.cfg'), `${lines.join('\n')}\n`);
}
