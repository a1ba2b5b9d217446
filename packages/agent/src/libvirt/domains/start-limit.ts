import type { Connection } from 'node-libvirt/connection';
import { isLibvirtError, LIBVIRT_ERROR } from 'node-libvirt/errors';
import type { Clock } from '../../base/clock.ts';
import { HostFailure } from '../../base/failure.ts';
import { startLimit } from '../call-limits.ts';
import { type FoundDomain, readState } from './libvirt-domains.ts';

const POLL_MS = 500;

/**
 * Waits for a start no longer than the size of the domain justifies. A start that takes longer is ended,
 * so that it does not complete after it was reported as failed.
 */
export async function withinStartLimit(
  start: (signal: AbortSignal) => Promise<unknown>,
  { clock, domain, end }: { clock: Clock; domain: FoundDomain; end: () => Promise<void> },
): Promise<void> {
  const { timeoutMs } = startLimit(domain.facts);
  const limit = new AbortController();
  const late = `VM ${domain.vmId} did not start within ${Math.round(timeoutMs / 1_000)} s`;
  const cancel = clock.after(timeoutMs, () => limit.abort(new Error(late)));
  try {
    await start(limit.signal);
  } catch (error) {
    if (!limit.signal.aborted) throw error;
    const outcome = await end().then(
      () => 'and was ended',
      (failure: unknown) => `and could not be ended: ${failure}`,
    );
    throw new HostFailure('start_timed_out', `${late} ${outcome}`, { isFinal: true });
  } finally {
    cancel();
  }
}

/** Returns when libvirt is done with a start that is in progress, also if the start has failed. */
export async function untilStarted(
  connection: Connection,
  { handle }: FoundDomain,
  { clock, signal }: { clock: Clock; signal: AbortSignal },
): Promise<void> {
  try {
    while ((await readState(connection, handle, { signal })).state === 'starting') {
      await new Promise<void>((resolve) => clock.after(POLL_MS, resolve));
      signal.throwIfAborted();
    }
  } catch (error) {
    if (!isLibvirtError(error, LIBVIRT_ERROR.noDomain)) throw error;
  }
}
