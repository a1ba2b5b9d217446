import type { Log } from '@gantry/daemon/log';
import type { Sql } from '@gantry/db/connect';
import { isBadValue } from '@gantry/db/errors';
import { updateImpairments } from '@gantry/db/queries/hosts/host-trouble';
import type { AttachedHost } from '../attached/attached-hosts.ts';

/** A report that fails this often for a reason of its own is set aside. */
const MAX_ATTEMPTS = 3;

/**
 * Sets reports aside that cannot be settled whatever is tried, because a value in them is impossible.
 * The host takes no new VMs, and operators see the reason, until a later report of it is settled.
 */
export function createPoisonControl({ sql, log }: { sql: Sql; log: Log }) {
  const mark = async (host: AttachedHost, impairment: string) =>
    await updateImpairments(sql, { hostIds: [host.stream.hostId], impairment });

  return {
    /** Returns whether the report is not to be retried. */
    async isSetAside(host: AttachedHost, error: unknown): Promise<boolean> {
      if (!isBadValue(error)) return false;
      host.unsettleable += 1;
      if (host.unsettleable < MAX_ATTEMPTS) return false;
      const { hostId } = host.stream;
      log.error({ error, host_id: hostId }, 'report set aside: it cannot be settled');
      const reason = error instanceof Error ? error.message : String(error);
      // Without the mark the report is still set aside: the next one is settled or fails alike.
      await mark(host, `its last report cannot be settled: ${reason.slice(0, 200)}`).catch(
        (failure: unknown) => log.error({ error: failure, host_id: hostId }, 'host not marked'),
      );
      return true;
    },
    async settled(host: AttachedHost): Promise<void> {
      if (host.unsettleable >= MAX_ATTEMPTS) await mark(host, '');
      host.unsettleable = 0;
    },
  };
}
