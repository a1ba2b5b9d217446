import type { Log } from '@gantry/daemon/log';
import type { Queryable, Sql } from '@gantry/db/connect';
import { updateBackupFailed } from '@gantry/db/queries/backups/backup-work';
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
import { undoAttachments, undoDetachments, undoGrowth } from '@gantry/db/queries/settle/settle-vms';
import { updateSnapshotFailed } from '@gantry/db/queries/snapshots/snapshot-work';
import { readImageProblem, updateImageFailed } from '@gantry/db/queries/storage/image-work';
import { readVolumeProblem } from '@gantry/db/queries/storage/volumes';
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
  const failure = overdue(vm, vm?.placed ? null : await readVolumeProblem(sql, vmId));
  const generation = vm?.generation ?? '0';
  switch (name) {
    case 'CREATE':
    case 'START':
    case 'MOVE':
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

/** `problem`: why its volumes are not ready; empty if nothing is known, null if none is missing. */
function overdue(
  vm: Awaited<ReturnType<typeof lockVmOfOperation>>,
  problem: string | null,
): OperationFailure {
  if (vm?.relocating && vm.build_failure) {
    const { code, message } = vm.build_failure;
    return { code, message: `${message}; its host did not remove it in time to try another one` };
  }
  if (problem !== null) return volumeFailure(problem);
  return hostFailure(
    vm?.placed ? 'its host did not finish it in time' : 'no host was found for it in time',
  );
}

function volumeFailure(problem: string): OperationFailure {
  const why = problem === '' ? '' : `: ${problem}`;
  return { code: 'storage_failed', message: `the storage did not finish it in time${why}` };
}

async function endOther(sql: Queryable, operation: OverdueOperation): Promise<boolean> {
  const { id: operationId, resource_id: resourceId, resource_type: type } = operation;
  if (type === 'disk') await lockVmsOfDisk(sql, resourceId);
  if (!(await isUnfinished(sql, operationId))) return false;
  const owing = type === 'vpc-firewall-rule' ? await listHostsPendingRule(sql, resourceId) : [];
  const problem = await readStorageProblem(sql, operation);
  const isOfCluster =
    problem !== null ||
    operation.name === 'RESTORE' ||
    ['snapshot', 'backup', 'image'].includes(type);
  const failure = isOfCluster ? volumeFailure(problem ?? '') : lateHosts(owing);
  if (type === 'disk' && operation.name === 'UPDATE') await undoGrowth(sql, resourceId);
  if (type === 'snapshot' && operation.name === 'CREATE') {
    await updateSnapshotFailed(sql, { snapshotId: resourceId, problem: failure.message });
  }
  if (type === 'backup' && operation.name === 'CREATE') {
    await updateBackupFailed(sql, { backupId: resourceId, problem: failure.message });
  }
  if (type === 'image') {
    await updateImageFailed(sql, { imageId: resourceId, problem: failure.message });
  }
  await failOverdueOperation(sql, { operationId, failure });
  return true;
}

/** Null: the resource is not in a storage. */
async function readStorageProblem(
  sql: Queryable,
  { resource_type: type, resource_id: id }: OverdueOperation,
): Promise<string | null> {
  if (type === 'disk') return await readVolumeProblem(sql, id);
  return type === 'image' ? await readImageProblem(sql, id) : null;
}

const MOST_NAMED = 20;

function lateHosts(owing: readonly string[]): OperationFailure {
  return owing.length > 0 ? owedByHosts(owing) : hostFailure('its host did not finish it in time');
}

function owedByHosts(names: readonly string[]) {
  const named = names.slice(0, MOST_NAMED);
  const others = names.length - named.length;
  const who = others > 0 ? `${named.join(', ')} and ${others} more` : named.join(', ');
  const message = `not in force in time on ${who}: the rule holds there as soon as they report it`;
  return hostFailure(message, { hosts_pending: names.length, hosts: named });
}
