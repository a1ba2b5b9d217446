import { mkdir, readFile, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { replaceFile, unlessMissing } from '@gantry/daemon/durable-file';
import type { RunProgram } from '../../../base/run-program.ts';
import type { NamedDevice } from '../kind-driver.ts';
import { ignoreDrives } from './ignore-drives.ts';

/**
 * Tells udev which drives hold a tenant's data. Otherwise udev would look for RAID and LVM members
 * on such a drive when the host boots or the drive is returned, would assemble whatever the tenant
 * wrote there, and the drive would then be in use.
 */
export async function markTenantDrives(
  { file, run }: { file: string; run: RunProgram },
  drives: readonly NamedDevice[],
): Promise<void> {
  const wanted = ignoreDrives(drives);
  const present = await unlessMissing(readFile(file, 'utf8'));
  if (wanted === (present ?? '')) return;
  if (wanted === '') {
    await rm(file, { force: true });
  } else {
    await mkdir(dirname(file), { recursive: true });
    await replaceFile(file, wanted, 0o644);
  }
  // udev would reload the rules by itself some seconds later. A host without udev assembles
  // nothing.
  await run('udevadm', ['control', '--reload']).catch(() => undefined);
}
