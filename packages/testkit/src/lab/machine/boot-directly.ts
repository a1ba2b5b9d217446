import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { renderCpio } from '@gantry/local/guest/cpio';
import type { Lab } from './start-lab.ts';

/** Known to the program that starts QEMU in an x64 lab: image/x64/qemu-system-x86_64. */
const DIRECTORY = '/var/lib/gantry-lab/direct-boot';

/**
 * Makes every VM that the machine of an x64 lab starts on KVM from now on boot a kernel without firmware and run
 * this script, whatever its image is. Everything else of the VM is what its definition says. Its firmware would
 * need many minutes, and with more than one processor it would not end.
 */
export async function bootDirectly(lab: Pick<Lab, 'ask' | 'share'>, script: string): Promise<void> {
  const work = {
    kind: 'file',
    name: 'work',
    content: Buffer.from(script),
    executable: true,
  } as const;
  await writeFile(path.join(lab.share, 'work.cpio'), renderCpio([work]));
  // The kernel unpacks the archives one after the other, so the second one replaces the script.
  await lab.ask(
    `mkdir -p ${DIRECTORY} && cat /lab/guest-initramfs /share/work.cpio >${DIRECTORY}/new && mv ${DIRECTORY}/new ${DIRECTORY}/initramfs`,
  );
}
