import type { Queryable } from '@gantry/db/connect';
import {
  isVmPlaced,
  lockReservedAddress,
  readReservedAddress,
  updateAddressAttached,
  updateAddressDetached,
} from '@gantry/db/queries/networks/reserved-addresses';
import type { NewOperation } from '@gantry/db/queries/operations/operations';
import { type NewVm, reservedAddressOf } from '@gantry/db/queries/vms/new-vms';
import { badRequest, CloudError } from '@gantry/model/errors';
import type { z } from '@hono/zod-openapi';
import { requireAddress } from '../public-addresses/change.ts';
import type { AttachPublicAddress } from '../public-addresses/schema.ts';
import { recordVmUpdate, requireIdleVm, requireState } from './change.ts';

/**
 * Attaches and detaches reserved addresses. No host has the VM, so the change is complete with the reply, and
 * the next placement gives the VM its address. A host of a running VM is not told to change the address:
 * connections that were opened with the former address would go on, while another VM may already have it.
 * Every request locks the VM first and then the address.
 */
type Change = {
  sql: Queryable;
  projectId: string;
  vmId: string;
  body: z.output<typeof AttachPublicAddress>;
  now: Date;
  deadlineMs: number;
};

export async function attachPublicAddress(change: Change): Promise<NewOperation> {
  const { sql, projectId, vmId, body } = change;
  const vm = await requireVmWithoutHost(change);
  const addressId = body.address_id;
  const address = requireAddress(await lockReservedAddress(sql, { projectId, addressId }));
  if (address.location !== vm.location) {
    throw new CloudError(
      'conflict',
      `the public address is in "${address.location}" and the VM in "${vm.location}": reserve one in the location of the VM`,
    );
  }
  if (address.vm_id !== null) throw attachedElsewhere(address.vm_id);
  await updateAddressAttached(sql, { addressId, vmId });
  return await recordVmUpdate(change, body);
}

export async function detachPublicAddress(change: Change): Promise<NewOperation> {
  const { sql, projectId, vmId, body } = change;
  await requireVmWithoutHost(change);
  const addressId = body.address_id;
  const address = requireAddress(await lockReservedAddress(sql, { projectId, addressId }));
  if (address.vm_id !== vmId) {
    throw new CloudError('conflict', 'the public address is not attached to this VM');
  }
  await updateAddressDetached(sql, addressId);
  return await recordVmUpdate(change, body);
}

async function requireVmWithoutHost(change: Change) {
  const vm = await requireIdleVm(change);
  requireState(vm, 'CHANGE_PUBLIC_ADDRESS');
  if (!(await isVmPlaced(change.sql, change.vmId))) return vm;
  throw new CloudError(
    'conflict',
    `the VM is ${vm.state} and its host still has its parts: START and STOP it first, or delete it`,
  );
}

function attachedElsewhere(vmId: string): CloudError {
  return new CloudError(
    'conflict',
    `the public address is attached to the VM ${vmId}: detach it there first`,
  );
}

/** Explains why the reserved address of a new VM could not be attached. */
export async function addressError(sql: Queryable, vm: NewVm): Promise<CloudError> {
  const addressId = reservedAddressOf(vm.request) ?? '';
  const address = await readReservedAddress(sql, { projectId: vm.projectId, addressId });
  const wrong = (reason: string) =>
    badRequest([{ field: 'network_interfaces.0.public_ipv4.id', reason }]);
  if (!address) return wrong('is not a public address of this project');
  if (address.location !== vm.request.location) {
    return wrong(`is in "${address.location}" and the VM in "${vm.request.location}"`);
  }
  return attachedElsewhere(address.vm_id ?? '');
}
