import { chmod, mkdir, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'vitest';
import type { LibvirtHost } from './host.ts';

/**
 * Holds libvirt back at a step of one domain. libvirt runs a hook script at each step and keeps the domain
 * locked until the script ends, exactly as while it waits for a process that cannot be killed.
 */
export type DomainGates = {
  /** From now on libvirt stops at this step of the domain. */
  close(domain: string, step: 'prepare' | 'started' | 'stopped'): Promise<DomainGate>;
};

export type DomainGate = {
  /** Returns when libvirt has come to the gate. */
  reached(): Promise<void>;
  open(): Promise<void>;
};

/** `/etc/libvirt` is the daemon's own directory. The script must not read the domain's XML. */
const HOOK = `#!/bin/sh
exec </dev/null
gate=/etc/libvirt/gates/$1.$2
[ -e "$gate" ] || exit 0
: >"$gate.reached"
while [ -e "$gate" ]; do sleep 0.05; done
`;

/** Restarts libvirtd, because it looks for hook scripts only at its start. */
export async function installGates({ directory, libvirtd }: LibvirtHost): Promise<DomainGates> {
  const etc = path.join(directory, 'libvirt', 'etc');
  await mkdir(path.join(etc, 'hooks'), { recursive: true });
  await mkdir(path.join(etc, 'gates'), { recursive: true });
  await writeFile(path.join(etc, 'hooks', 'qemu'), HOOK);
  await chmod(path.join(etc, 'hooks', 'qemu'), 0o755);
  await libvirtd.restartDaemon('libvirtd');
  return {
    async close(domain, step) {
      const file = path.join(etc, 'gates', `${domain}.${step}`);
      await writeFile(file, '');
      return {
        reached: () =>
          expect.poll(() => stat(`${file}.reached`).then(Boolean, () => false)).toBe(true),
        async open() {
          await rm(file, { force: true });
          await rm(`${file}.reached`, { force: true });
        },
      };
    },
  };
}
