import type { Log } from '@gantry/daemon/log';
import type { Sql } from '@gantry/db/connect';
import {
  listLostHosts,
  lockLostHost,
  updateLostHostFenced,
} from '@gantry/db/queries/hosts/lost-hosts';
import { transact } from '@gantry/db/transact';
import { groupBy } from '@gantry/model/group-by';

/** When hosts are fenced without an operator. */
export type LostHostPolicy = {
  /** A host that has been lost for this long is fenced. Null: only operators fence hosts. */
  afterMs: number | null;
  /** If more hosts of a location are lost, none is fenced: then the network is more likely at fault than the hosts. */
  mostLost: number;
};

type Fencing = {
  sql: Sql;
  log: Log;
  policy: LostHostPolicy;
  /** The locations whose leases this scheduler has. */
  locations: readonly string[];
  /** For how long the database has replied to this process without an interruption. */
  steadyMs: number;
};

/**
 * Declares lost hosts dead by the policy of the installation. Only a host is fenced from which at least one VM restarts
 * elsewhere, and which stores no disk of a tenant alone: a fenced host does not come back, and such a disk would be lost.
 */
export async function fenceLostHosts(fencing: Fencing): Promise<void> {
  const { sql, log, policy, locations, steadyMs } = fencing;
  const { afterMs, mostLost } = policy;
  // As for unreachable hosts: this process must have been able to hear from them.
  if (afterMs === null || steadyMs < afterMs) return;
  const lost = await listLostHosts(sql, { locations, afterMs });
  for (const [location, hosts] of groupBy(lost, (host) => host.location)) {
    const due = hosts.filter(({ due, evacuable }) => due && evacuable);
    if (due.length === 0) continue;
    if (hosts.length > mostLost) {
      log.error(
        { location, lost: hosts.length, most_lost: mostLost },
        'too many hosts are lost; none is fenced automatically',
      );
      continue;
    }
    for (const { id } of due) {
      const isFenced = await transact(sql, async (transaction) => {
        if (!(await lockLostHost(transaction, { hostId: id, afterMs }))) return false;
        await updateLostHostFenced(transaction, id);
        return true;
      });
      if (isFenced) log.warn({ host_id: id, location }, 'lost host declared dead by policy');
    }
  }
}
