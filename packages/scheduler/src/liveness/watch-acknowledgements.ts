import type { Log } from '@gantry/daemon/log';
import type { Sql } from '@gantry/db/connect';
import { updateImpairments } from '@gantry/db/queries/hosts/host-trouble';
import type { AttachedHost, AttachedHosts } from '../attached/attached-hosts.ts';

type Watching = { sql: Sql; log: Log; hosts: AttachedHosts; limitMs?: number };

const LIMIT_MS = 5_000;
const IMPAIRMENT = 'it has not acknowledged its desired state for 5 seconds';

/**
 * Returns the body of a loop that keeps new VMs from hosts that do not acknowledge their specs, and
 * ends this as soon as they do. The host may be overloaded, or its stream may hang. A new stream clears
 * the impairment, so that a host is judged anew by the scheduler to which it attaches.
 */
export function watchAcknowledgements({ sql, log, hosts, limitMs = LIMIT_MS }: Watching) {
  const marked = new WeakSet<AttachedHost>();
  return async (): Promise<void> => {
    const since = performance.now() - limitMs;
    const attached = [...hosts.values()];
    const impaired = attached.filter(
      (host) => !marked.has(host) && host.sent.isWaitingSince(since),
    );
    const recovered = attached.filter((host) => marked.has(host) && !host.sent.isWaiting);
    await updateImpairments(sql, { hostIds: idsOf(impaired), impairment: IMPAIRMENT });
    await updateImpairments(sql, { hostIds: idsOf(recovered), impairment: '' });
    for (const host of impaired) marked.add(host);
    for (const host of recovered) marked.delete(host);
    for (const hostId of idsOf(impaired))
      log.warn({ host_id: hostId }, 'host does not acknowledge its spec');
    for (const hostId of idsOf(recovered))
      log.info({ host_id: hostId }, 'host acknowledges its spec again');
  };
}

function idsOf(hosts: readonly AttachedHost[]): string[] {
  return hosts.map(({ stream }) => stream.hostId);
}
