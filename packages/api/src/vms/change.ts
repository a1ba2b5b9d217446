import type { Queryable } from '@gantry/db/connect';
import { isTypeOffered } from '@gantry/db/queries/catalogue/catalogue';
import {
  type NewOperation,
  readUnfinishedOperation,
} from '@gantry/db/queries/operations/operations';
import { supersedeOperation } from '@gantry/db/queries/settle/end-operation';
import { listBusyDisks } from '@gantry/db/queries/snapshots/snapshots';
import { closeInterval } from '@gantry/db/queries/usage/meter';
import { vmView } from '@gantry/db/queries/vms/vm-view';
import {
  lockVm,
  readVm,
  updateVmDefinition,
  updateVmDeleted,
  updateVmPower,
  type VmRow,
} from '@gantry/db/queries/vms/vms';
import { CloudError, notFound } from '@gantry/model/errors';
import type { OperationName } from '@gantry/model/states';
import { type VmAction, vmRefusal } from '@gantry/model/vm-life/actions';
import type { z } from '@hono/zod-openapi';
import {
  operationInProgress,
  recordSucceededOperation,
  requireNoOperation,
  startOperation,
} from '../operations/open.ts';
import type { ChangeVm } from './schema.ts';

type Target = { sql: Queryable; projectId: string; vmId: string; now: Date; deadlineMs: number };

/**
 * Requests a change of a VM. A request that ends STATE_RUNNING ends the metering in the same
 * transaction, whenever the host carries it out.
 */
export async function changeVm(
  target: Target & { body: z.output<typeof ChangeVm> },
): Promise<NewOperation> {
  const { sql, vmId, body } = target;
  const vm = await requireIdleVm(target);
  switch (body.action) {
    case 'START':
      requireState(vm, 'START');
      await requireDisksAtRest(sql, vmId);
      await updateVmPower(sql, { vmId, desiredState: 'running', powerAction: 'START' });
      break;
    case 'STOP':
      requireState(vm, 'STOP');
      await updateVmPower(sql, { vmId, desiredState: 'stopped', powerAction: 'STOP' });
      await closeInterval(sql, { resourceId: vmId });
      break;
    case 'RESET':
      requireState(vm, 'RESET');
      await updateVmPower(sql, { vmId, desiredState: 'running', powerAction: 'RESET' });
      await closeInterval(sql, { resourceId: vmId });
      break;
    case 'UPDATE':
      return await updateVm(target, vm, body);
  }
  return await startVmOperation({ ...target, vmType: vm.type }, body.action, body);
}

/**
 * Deletes the VM in any state. An unfinished operation on the VM is cancelled. The OS disk is
 * deleted with the VM; data disks are detached once the VM is gone.
 */
export async function deleteVm(target: Target): Promise<NewOperation> {
  const { sql, vmId } = target;
  const vm = await requireVm(target);
  const unfinished = await readUnfinishedOperation(sql, vmId);
  if (unfinished?.name === 'DELETE') throw operationInProgress();
  if (unfinished) await supersedeOperation(sql, unfinished.id);
  await updateVmDeleted(sql, vmId);
  await closeInterval(sql, { resourceId: vmId });
  return await startVmOperation({ ...target, vmType: vm.type }, 'DELETE', {});
}

/** Changes the name, the type, the tags or what follows a failure of its host at once. A new type takes effect when the VM starts again. */
async function updateVm(
  target: Target,
  vm: VmRow,
  body: z.output<typeof ChangeVm>,
): Promise<NewOperation> {
  const { sql, vmId } = target;
  if (body.type !== undefined && body.type !== vm.type) {
    requireState(vm, 'CHANGE_TYPE');
    await requireOffered(sql, body.type, vm.location);
  }
  const { name = vm.name, type = vm.type, tags = vm.tags } = body;
  const { on_host_failure: onHostFailure = vm.on_host_failure } = body;
  await updateVmDefinition(sql, { vmId, name, type, tags, onHostFailure });
  return await recordVmUpdate(target, body);
}

/** Records that a change of the VM which needs no host is complete. */
export async function recordVmUpdate(target: Target, body: object): Promise<NewOperation> {
  const { sql, projectId, vmId } = target;
  const after = await readVm(sql, { projectId, vmId });
  if (!after) throw new Error('BUG: a locked VM is missing');
  const opening = vmOpening(target, 'UPDATE', body);
  return await recordSucceededOperation(sql, opening, vmView(after));
}

/** A VM must not write to a disk while the cluster or the host changes or copies its content. */
async function requireDisksAtRest(sql: Queryable, vmId: string): Promise<void> {
  const [diskId] = await listBusyDisks(sql, vmId);
  if (diskId === undefined) return;
  throw new CloudError(
    'conflict',
    `the disk ${diskId} of the VM is being copied to a snapshot or set back to one: wait until that is complete`,
  );
}

async function requireOffered(sql: Queryable, type: string, location: string): Promise<void> {
  const offered = await isTypeOffered(sql, { type, location });
  if (!offered.known)
    throw new CloudError('unknown_type', `there is no VM type "${type}": see GET …/specs`);
  if (!offered.there)
    throw new CloudError('type_not_in_location', `"${type}" is not offered in "${location}"`);
}

/** Locks the VM and returns it, or throws if an operation on it is unfinished. */
export async function requireIdleVm(target: Target): Promise<VmRow> {
  const vm = await requireVm(target);
  await requireNoOperation(target.sql, target.vmId);
  return vm;
}

async function requireVm({ sql, projectId, vmId }: Target): Promise<VmRow> {
  const vm = await lockVm(sql, { projectId, vmId });
  if (!vm) throw notFound('VM');
  return vm;
}

export function requireState(vm: VmRow, action: VmAction): void {
  const refusal = vmRefusal(action, vm.state);
  if (refusal !== null) throw new CloudError('conflict', refusal);
}

/** With a `vmType`, a host has to start or stop the VM, and a large one has more time. */
type Started = Target & { vmType?: string };

export async function startVmOperation(
  target: Started,
  name: OperationName,
  request: object,
): Promise<NewOperation> {
  return await startOperation(target.sql, vmOpening(target, name, request));
}

function vmOpening(target: Started, name: OperationName, request: object) {
  const { projectId, vmId: resourceId, now, deadlineMs, vmType } = target;
  const what = { projectId, resourceType: 'vm' as const, resourceId, name, request };
  return { ...what, now, deadlineMs, vmType };
}
