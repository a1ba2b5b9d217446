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
import { closeVmInterval } from '@gantry/db/queries/usage/meter';
import { transact } from '@gantry/db/transact';

export type Silence = {
  /** A scheduler without a heartbeat for this long is dead. */
  schedulerMs: number;
  /** A host without a stream for this long is unreachable. */
  hostMs: number;
};

type Watch = { sql: Sql; log: Log; silence: Silence };

/**
 * Marks hosts without a stream as unreachable. It is unknown what runs there, so all claims stay. Any
 * number of schedulers can do this at the same time.
 */
export async function markUnreachable({ sql, log, silence }: Watch): Promise<void> {
  for (const { id } of await removeDeadSchedulers(sql, silence.schedulerMs))
    log.warn({ scheduler_id: id }, 'dead scheduler removed; its hosts must attach again');
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
    if (!(await updateHostUnreachable(sql, { hostId, silentMs }))) return false;
    await updateVmsReachable(sql, { vmIds: vms.map(({ id }) => id), reachable: false });
    // Time during which the VM is not known to run is not charged.
    for (const { id } of vms) await closeVmInterval(sql, id);
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
