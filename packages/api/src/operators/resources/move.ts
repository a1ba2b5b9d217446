import type { Queryable } from '@gantry/db/connect';
import { insertEvents } from '@gantry/db/queries/operations/events';
import type { NewOperation } from '@gantry/db/queries/operations/operations';
import { readMovableVm } from '@gantry/db/queries/operators/movable-vms';
import { readPlacementHosts } from '@gantry/db/queries/placement/placement-hosts';
import { closeInterval } from '@gantry/db/queries/usage/meter';
import { updateVmMoving } from '@gantry/db/queries/vms/vms';
import { CloudError, found, notFound } from '@gantry/model/errors';
import { chooseHost } from '@gantry/placement/choose-host';
import { newHostIndex } from '@gantry/placement/host-index';
import { hostsFromRows } from '@gantry/placement/hosts-from-rows';
import { requestFor } from '@gantry/placement/request-for';
import type { z } from '@hono/zod-openapi';
import { requireIdleVm, requireState, startVmOperation } from '../../vms/change.ts';
import type { MoveVm } from './schema.ts';

type Move = {
  sql: Queryable;
  vmId: string;
  body: z.output<typeof MoveVm>;
  now: Date;
  deadlineMs: number;
};

const NOTICE = 'the operator moves the VM to another host: it is shut down and started again there';

/**
 * Moves a running VM to another host, as one operation: its host takes it down like a STOP, then it is placed and started.
 * The move is refused before anything changes if a disk is stored on a host, or if no other host has room now.
 */
export async function moveVm({ sql, vmId, body, now, deadlineMs }: Move): Promise<NewOperation> {
  const { project_id: projectId } = found(await readMovableVm(sql, vmId), 'VM');
  const target = { sql, projectId, vmId, now, deadlineMs };
  const vm = await requireIdleVm(target);
  requireState(vm, 'MOVE');
  const movable = found(await readMovableVm(sql, vmId), 'VM');
  if (movable.host_id === null) throw new Error('BUG: a running VM is on no host');
  if (movable.local_disks > 0)
    throw new CloudError(
      'conflict',
      `${movable.local_disks} of its disks are stored on its host: only a VM whose disks are all in storage clusters can move`,
    );
  const hostId = body.host_id ?? null;
  if (hostId === movable.host_id)
    throw new CloudError('conflict', 'the VM is on this host already');
  await requireRoom(sql, { movable, location: vm.location, hostId });
  await updateVmMoving(sql, { vmId, hostId });
  await closeInterval(sql, { resourceId: vmId });
  const event = { projectId, resourceType: 'vm', resourceId: vmId } as const;
  await insertEvents(sql, [{ ...event, type: 'vm_moving', message: body.notice ?? NOTICE }]);
  return await startVmOperation({ ...target, vmType: vm.type }, 'MOVE', body);
}

type Wanted = {
  movable: NonNullable<Awaited<ReturnType<typeof readMovableVm>>>;
  location: string;
  hostId: string | null;
};

/** Throws with the filters of placement, as a START that finds no host does. */
async function requireRoom(sql: Queryable, { movable, location, hostId }: Wanted): Promise<void> {
  const rows = await readPlacementHosts(sql, { location, hostIds: null });
  if (hostId !== null && !rows.hosts.some(({ id }) => id === hostId)) throw notFound('host');
  const index = newHostIndex();
  for (const host of hostsFromRows(rows)) index.put(host);
  const choice = chooseHost(
    index,
    requestFor(location, movable, { newDisksGib: 0, hasVolumes: true }),
    [
      {
        name: hostId === null ? 'other_host' : 'chosen_host',
        allows: ({ id }) => (hostId === null ? id !== movable.host_id : id === hostId),
      },
    ],
  );
  if (!('reasons' in choice)) return;
  const where = hostId === null ? `no other host in ${location}` : 'the host';
  const verb = hostId === null ? 'has' : 'does not have';
  throw new CloudError('conflict', `${where} ${verb} room for the VM now`, {
    details: { filters: choice.reasons },
  });
}
