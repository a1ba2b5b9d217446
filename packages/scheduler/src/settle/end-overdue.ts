import type { Log } from '@gantry/daemon/log';
import type { Queryable, Sql } from '@gantry/db/connect';
import {
  isUnfinished,
  listHostsPendingRule,
  listOverdueOperations,
  lockVmOfOperation,
  type OverdueOperation,
} from '@gantry/db/queries/operations/overdue-operations';
import {
  failOperation,
  failOverdueOperation,
  failVm,
  hostFailure,
  type OperationFailure,
} from '@gantry/db/queries/settle/end-operation';
import { updateSnapshotFailed } from '@gantry/db/queries/snapshots/snapshot-work';
import { undoAttachments, undoDetachments, undoGrowth } from '@gantry/db/queries/settle/settle-vms';
import { lockVmsOfDisk } from '@gantry/db/queries/vms/disks';
import { transact } from '@gantry/db/transact';

const BATCH_ROWS = 100;

/**
 * Fails operations whose deadline has passed, so that every operation ends. A VM that is only partly
 * built is removed. A stop or a removal stays in force, and the host does it when it can: otherwise
 * the VM would run on.
 */
export async function endOverdueOperations({ sql, log }: { sql: Sql; log: Log }): Promise<void> {
  for (const operation of await listOverdueOperations(sql, BATCH_ROWS)) {
    const { id, name } = operation;
    try {
      const ended = await transact(sql, async (transaction) =>
        operation.resource_type === 'vm'
          ? await endVmOperation(transaction, operation)
          : await endOther(transaction, operation),
      );
      if (ended) log.warn({ operation_id: id, name }, 'operation overdue');
    } catch (error) {
      log.error({ error, operation_id: id, name }, 'overdue operation not ended; will be retried');
    }
  }
}

async function endVmOperation(sql: Queryable, operation: OverdueOperation): Promise<boolean> {
  const { name, resource_id: vmId } = operation;
  const vm = await lockVmOfOperation(sql, vmId);
  if (!(await isUnfinished(sql, operation.id))) return false;
  const failure = overdue(vm);
  const generation = vm?.generation ?? '0';
  switch (name) {
    case 'CREATE':
    case 'START':
      await failVm(sql, { vmId, generation, failure, after: vm?.placed ? 'error' : 'keep' });
      break;
    case 'RESET':
      // The VM probably runs: only the power action ends.
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

function overdue(vm: Awaited<ReturnType<typeof lockVmOfOperation>>): OperationFailure {
  if (vm?.relocating && vm.build_failure) {
    const { code, message } = vm.build_failure;
    return { code, message: `${message}; its host did not remove it in time to try another one` };
  }
  return hostFailure(
    vm?.placed ? 'its host did not finish it in time' : 'no host was found for it in time',
  );
}

async function endOther(sql: Queryable, operation: OverdueOperation): Promise<boolean> {
  const { id: operationId, resource_id: resourceId, resource_type: type } = operation;
  if (type === 'disk') await lockVmsOfDisk(sql, resourceId);
  if (!(await isUnfinished(sql, operationId))) return false;
  const owing = type === 'vpc-firewall-rule' ? await listHostsPendingRule(sql, resourceId) : [];
  const failure = owing.length > 0 ? owedByHosts(owing) : late(operation);
  if (type === 'disk' && operation.name === 'UPDATE') await undoGrowth(sql, resourceId);
  if (type === 'snapshot' && operation.name === 'CREATE') {
    const problem = 'the storage cluster did not make it in time';
    await updateSnapshotFailed(sql, { snapshotId: resourceId, problem });
  }
  await failOverdueOperation(sql, { operationId, failure });
  return true;
}

function late({ name, resource_type: type }: OverdueOperation): OperationFailure {
  if (name !== 'RESTORE' && type !== 'snapshot') return hostFailure('its host did not finish it in time');
  return { code: 'storage_failed', message: 'the storage cluster did not finish it in time' };
}

const MOST_NAMED = 20;

function owedByHosts(names: readonly string[]) {
  const named = names.slice(0, MOST_NAMED);
  const others = names.length - named.length;
  const who = others > 0 ? `${named.join(', ')} and ${others} more` : named.join(', ');
  const message = `not in force in time on ${who}: the rule holds there as soon as they report it`;
  return hostFailure(message, { hosts_pending: names.length, hosts: named });
}
