import type { Log } from '@gantry/daemon/log';
import type { Queryable, Sql } from '@gantry/db/connect';
import { cancelOperation, failOperation } from '@gantry/db/queries/operations/operations';
import {
  isUnfinished,
  listHostsPendingRule,
  listOverdueOperations,
  lockVmOfOperation,
  type OverdueOperation,
} from '@gantry/db/queries/operations/overdue-operations';
import { undoAttachments, undoDetachments, undoGrowth } from '@gantry/db/queries/settle/settle-vms';
import { lockVmsOfDisk } from '@gantry/db/queries/vms/disks';
import { failVm } from '@gantry/db/queries/vms/fail-vm';
import { transact } from '@gantry/db/transact';

const TURN_ROWS = 100;

/**
 * An operation always ends. Past its deadline it fails; what was half built is removed. What was to
 * be stopped or removed still is, whenever its host can: giving up on that would leave it running.
 */
export async function endOverdue({ sql, log }: { sql: Sql; log: Log }): Promise<void> {
  for (const operation of await listOverdueOperations(sql, TURN_ROWS)) {
    const { id: operationId, name } = operation;
    try {
      const ended = await transact(sql, async (transaction) =>
        operation.resource_type === 'vm'
          ? await endVmOperation(transaction, operation)
          : await endOther(transaction, operation),
      );
      if (ended) log.warn({ operationId, name }, 'operation overdue');
    } catch (error) {
      log.error(
        { error, operationId, name },
        'an overdue operation was not ended; it is tried again',
      );
    }
  }
}

async function endVmOperation(sql: Queryable, operation: OverdueOperation): Promise<boolean> {
  const { name, resource_id: vmId } = operation;
  const vm = await lockVmOfOperation(sql, vmId);
  if (!(await isUnfinished(sql, operation.id))) return false;
  const failure = overdue(
    vm?.placed ? 'its host did not finish it in time' : 'no host was found for it in time',
  );
  const generation = vm?.generation ?? '0';
  switch (name) {
    case 'CREATE':
    case 'START':
      await failVm(sql, { vmId, generation, failure, after: vm?.placed ? 'error' : 'keep' });
      break;
    case 'RESET':
      // The VM may well run: only the asking is over.
      await failVm(sql, { vmId, generation, failure, after: 'keep' });
      break;
    case 'ATTACH_DISKS':
      await undoAttachments(sql, vmId);
      break;
    case 'DETACH_DISKS':
      await undoDetachments(sql, vmId);
      break;
  }
  await failOperation(sql, { resourceId: vmId, failure });
  return true;
}

async function endOther(sql: Queryable, operation: OverdueOperation): Promise<boolean> {
  const { id: operationId, resource_id: resourceId, resource_type: type } = operation;
  if (type === 'disk') await lockVmsOfDisk(sql, resourceId);
  if (!(await isUnfinished(sql, operationId))) return false;
  const owing = type === 'vpc-firewall-rule' ? await listHostsPendingRule(sql, resourceId) : [];
  const failure =
    owing.length > 0 ? owedByHosts(owing) : overdue('its host did not finish it in time');
  if (type === 'disk' && operation.name === 'UPDATE') await undoGrowth(sql, resourceId);
  // By its own id: another operation may have begun by now.
  await cancelOperation(sql, { operationId, result: failure, at: new Date() });
  return true;
}

const MOST_NAMED = 20;

function owedByHosts(names: readonly string[]) {
  const named = names.slice(0, MOST_NAMED);
  const others = names.length - named.length;
  const who = others > 0 ? `${named.join(', ')} and ${others} more` : named.join(', ');
  const message = `not in force in time on ${who}: the rule holds there as soon as they report it`;
  return overdue(message, { hosts_pending: names.length, hosts: named });
}

function overdue(message: string, details: object = {}) {
  return { code: 'host_failed', message, details };
}
