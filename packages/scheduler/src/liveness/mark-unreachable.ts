import type { Log } from '@gantry/daemon/log';
import type { Sql } from '@gantry/db/connect';
import {
  listSilentHosts,
  removeDeadSchedulers,
  updateHostUnreachable,
  updateVmsReachable,
} from '@gantry/db/queries/hosts/host-liveness';
import { insertEvents } from '@gantry/db/queries/operations/events';
import { lockPlacedVms } from '@gantry/db/queries/settle/settle-vms';
import { closeUnproven } from '@gantry/db/queries/usage/meter';
import { transact } from '@gantry/db/transact';

export type Silence = {
  /** A scheduler without a heartbeat for this long is dead. */
  schedulerMs: number;
  /** A host without a stream for this long is unreachable. */
  hostMs: number;
};

type Watch = {
  sql: Sql;
  log: Log;
  silence: Silence;
  /** For how long the database has replied to this process without an interruption. */
  steadyMs: number;
};

/**
 * Marks hosts without a stream as unreachable. It is unknown what runs there, so all claims stay. Any
 * number of schedulers can do this at the same time.
 *
 * An outage of the database is not an outage of the fleet: no process can record a heartbeat or a
 * stream meanwhile. So a process judges a silence only after it has itself been able to record something for
 * as long as the silence must last.
 */
export async function markUnreachable({ sql, log, silence, steadyMs }: Watch): Promise<void> {
  if (steadyMs < silence.schedulerMs) return;
  for (const { id } of await removeDeadSchedulers(sql, silence.schedulerMs))
    log.warn({ scheduler_id: id }, 'dead scheduler removed; its hosts must attach again');
  if (steadyMs < silence.hostMs) return;
  for (const { id } of await listSilentHosts(sql, silence.hostMs)) {
    if (await giveUpHost(sql, { hostId: id, silentMs: silence.hostMs }))
      log.warn({ host_id: id }, 'host unreachable');
  }
}

async function giveUpHost(
  pool: Sql,
  { hostId, silentMs }: { hostId: string; silentMs: number },
): Promise<boolean> {
  return await transact(pool, async (sql) => {
    const vms = await lockPlacedVms(sql, hostId);
    const lastSeenAt = await updateHostUnreachable(sql, { hostId, silentMs });
    if (!lastSeenAt) return false;
    await updateVmsReachable(sql, { vmIds: vms.map(({ id }) => id), reachable: false });
    // Time during which the VM is not known to run is not charged.
    for (const { id } of vms) await closeUnproven(sql, { resourceId: id, provenUntil: lastSeenAt });
    await insertEvents(
      sql,
      vms.map((vm) => ({
        projectId: vm.project_id,
        resourceType: 'vm',
        resourceId: vm.id,
        type: 'vm_unreachable',
        message: 'the host of the VM is unreachable: it is unknown whether the VM runs',
      })),
    );
    return true;
  });
}
