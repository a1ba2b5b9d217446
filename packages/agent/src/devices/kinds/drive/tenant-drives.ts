import { mkdir, readFile, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { replaceFile, unlessMissing } from '@gantry/daemon/durable-file';
import type { RunProgram } from '../../../base/run-program.ts';

/**
 * Tells udev which drives hold a tenant's data. Otherwise udev would look for RAID and LVM members
 * on such a drive when the host boots or the drive is returned, would assemble whatever the tenant
 * wrote there, and the drive would then be in use.
 */
export async function markTenantDrives(
  { file, run }: { file: string; run: RunProgram },
  addresses: readonly string[],
): Promise<void> {
  const wanted = renderTenantDrives(addresses);
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

/** Rules by which udev does not probe such a drive and systemd does not mount it. */
function renderTenantDrives(addresses: readonly string[]): string {
  if (addresses.length === 0) return '';
  const lines = [...addresses]
    .sort()
    .map(
      (address) =>
        `SUBSYSTEM=="block", KERNELS=="${address}", ` +
        'ENV{UDEV_DISABLE_PERSISTENT_STORAGE_RULES_FLAG}="1", ENV{SYSTEMD_READY}="0"',
    );
  return `${['# Drives of tenants. Written by gantry-agent.', ...lines].join('\n')}\n`;
}
