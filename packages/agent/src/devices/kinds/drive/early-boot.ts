import { access, chmod, mkdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { replaceFile, unlessMissing } from '@gantry/daemon/durable-file';
import type { RunProgram } from '../../../base/run-program.ts';
import type { NamedDevice } from '../kind-driver.ts';
import { ignoreDrives } from './ignore-drives.ts';

export type EarlyBootFiles = {
  /** The folder of initramfs-tools' hooks. A host without it boots in another way. */
  hooks: string;
  /** The rules for udev in the initramfs. */
  rules: string;
};

export const EARLY_BOOT_FILES: EarlyBootFiles = {
  hooks: '/etc/initramfs-tools/hooks',
  rules: '/etc/gantry/early-boot-drives.rules',
};

/** A minute for each kernel, and longer on a slow boot disk. Nothing waits for it. */
const UPDATE_TIMEOUT_MS = 1_800_000;

/**
 * Makes udev ignore the drives of VMs in the initramfs too. A host with mdadm or LVM in its initramfs
 * assembles what it finds on drives before it mounts its root file system, where the other rules are.
 *
 * The list contains the drives that VMs may get, not only those that VMs have: it changes with the
 * hardware instead of with every VM, and writing an initramfs takes a minute. It is written again if
 * it has changed or if the last attempt was interrupted.
 */
export async function hideFromEarlyBoot(
  { files, run }: { files: EarlyBootFiles; run: RunProgram },
  drives: readonly NamedDevice[],
): Promise<void> {
  const { hooks, rules } = files;
  if (!(await exists(hooks))) return;
  const wanted = ignoreDrives(drives);
  const inForce = `${rules}.in-force`;
  if (wanted === ((await unlessMissing(readFile(inForce, 'utf8'))) ?? '')) return;
  await mkdir(dirname(rules), { recursive: true });
  await replaceFile(rules, wanted, 0o644);
  const hook = join(hooks, 'gantry-drives');
  await replaceFile(hook, renderHook(rules), 0o755);
  await chmod(hook, 0o755);
  // It must not slow down VMs that start now.
  const update = ['-n', '19', 'update-initramfs', '-u', '-k', 'all'];
  await run('nice', update, { timeoutMs: UPDATE_TIMEOUT_MS });
  await replaceFile(inForce, wanted, 0o644);
}

async function exists(path: string): Promise<boolean> {
  return await access(path).then(
    () => true,
    () => false,
  );
}

function renderHook(rules: string): string {
  return `#!/bin/sh
# Written by gantry-agent: the host does not assemble what tenants wrote to their drives.
[ "$1" = prereqs ] && exit 0
[ -s '${rules}' ] || exit 0
mkdir -p "$DESTDIR/etc/udev/rules.d"
cp '${rules}' "$DESTDIR/etc/udev/rules.d/10-gantry-tenant-drives.rules"
`;
}
