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
  /** A scheduler that has not renewed its row for so long is dead. */
  schedulerMs: number;
  /** A host without a stream for so long is unreachable. */
  hostMs: number;
};

type Watch = { sql: Sql; log: Log; silence: Silence };

/**
 * Hosts that fell silent: what runs there is unknown, and nothing of it is given away. Any number of
 * schedulers may do this at once.
 */
export async function markUnreachable({ sql, log, silence }: Watch): Promise<void> {
  for (const { id } of await removeDeadSchedulers(sql, silence.schedulerMs))
    log.warn({ schedulerId: id }, 'another scheduler fell silent; its hosts have to attach again');
  for (const { id } of await listSilentHosts(sql, silence.hostMs)) {
    if (await giveUpHost(sql, { hostId: id, silentMs: silence.hostMs }))
      log.warn({ hostId: id }, 'host unreachable');
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
    // A VM that is not seen running is not charged for.
    for (const { id } of vms) await closeVmInterval(sql, id);
    await insertEvents(
      sql,
      vms.map((vm) => ({
        projectId: vm.project_id,
        resourceType: 'vm',
        resourceId: vm.id,
        type: 'vm_unreachable',
        message: 'the host of the VM is not heard from: whether the VM runs is unknown',
      })),
    );
    return true;
  });
}
