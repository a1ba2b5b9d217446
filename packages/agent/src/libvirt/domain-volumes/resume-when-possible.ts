import type { Log } from '@gantry/daemon/log';
import { LIBVIRT_ERROR } from 'node-libvirt/errors';
import { domainResume } from 'node-libvirt/generated/procedures';
import type { Clock } from '../../base/clock.ts';
import { CHANGE_LIMIT } from '../call-limits.ts';
import type { DomainLines } from '../domains/domain-lines.ts';
import type { DomainView } from '../domains/domain-view.ts';
import { findDomain, unless } from '../domains/libvirt-domains.ts';

type ResumeOptions = {
  view: Pick<DomainView, 'stoppedByStorage' | 'noticed'>;
  lines: Pick<DomainLines, 'run'>;
  clock: Clock;
  log: Log;
};

/** Between two attempts: a guest that waited for space continues within this time. */
const PAUSE_MS = 10_000;

/**
 * Resumes the domains that QEMU paused because a pool had no space. The guest repeats the write that failed; if there
 * is still no space, QEMU pauses it again, and the guest has noticed nothing. Returns a function that ends this.
 */
export function resumeWhenPossible({ view, lines, clock, log }: ResumeOptions): () => void {
  const resume = async (vmId: string) => {
    await lines.run(vmId, 'change', async (connection) => {
      const domain = await findDomain(connection, vmId);
      // A domain of another program is its own business.
      if (!domain?.isStoppedByStorage || domain.facts.metadata === null) return;
      const resuming = connection.call(domainResume, { dom: domain.handle }, CHANGE_LIMIT);
      await unless(LIBVIRT_ERROR.operationInvalid, resuming);
      log.info({ vm_id: vmId }, 'resumed a VM that its storage had stopped');
    });
    view.noticed(vmId);
  };
  const attempt = () => {
    for (const vmId of view.stoppedByStorage()) {
      resume(vmId).catch((error: unknown) => {
        log.warn({ error, vm_id: vmId }, 'VM could not be resumed; will be retried');
      });
    }
    cancel = clock.after(PAUSE_MS, attempt);
  };
  let cancel = clock.after(PAUSE_MS, attempt);
  return () => cancel();
}
