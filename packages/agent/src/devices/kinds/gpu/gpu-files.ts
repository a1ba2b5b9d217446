import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PCI_DEVICES } from '../../pci/pci-device.ts';
import type { AssigningHost } from '../kind-driver.ts';

/** Returns the files of the kernel's graphics drivers and of NVIDIA's driver for a card. */
export async function gpuFiles(
  { sysfs, procRoot, devRoot }: AssigningHost,
  address: string,
): Promise<string[]> {
  const graphics = await sysfs.list(`${PCI_DEVICES}/${address}/drm`);
  const nodes = graphics.filter((name) => /^(card|renderD)\d+$/.test(name));
  const minor = await nvidiaMinor(procRoot, address);
  return [
    ...nodes.map((name) => join(devRoot, 'dri', name)),
    ...(minor === undefined ? [] : [join(devRoot, `nvidia${minor}`)]),
  ];
}

/** NVIDIA's driver shows the number of a card's file only in /proc. */
async function nvidiaMinor(procRoot: string, address: string): Promise<string | undefined> {
  const file = join(procRoot, 'driver/nvidia/gpus', address, 'information');
  const text = await readFile(file, 'utf8').catch(() => '');
  return /^Device Minor:\s*(\d+)/m.exec(text)?.[1];
}
