import { randomBytes } from 'node:crypto';
import type { Queryable, Transaction } from '@gantry/db/connect';
import { isMissingValue } from '@gantry/db/errors';
import { readNamedImage } from '@gantry/db/queries/images/project-images';
import type { NewOperation } from '@gantry/db/queries/operations/operations';
import type { WriteRecord } from '@gantry/db/queries/operations/records';
import {
  insertVm,
  type NewVm,
  readInterfaceTargets,
  readNestedVirtualization,
  readVmRefusal,
  reservedAddressOf,
  type VmRefusal,
  type VmRequest,
} from '@gantry/db/queries/vms/new-vms';
import { OS_DISK_GIB, OS_DISK_SIZE } from '@gantry/model/disk-size';
import { badRequest, CloudError, unknownLocation } from '@gantry/model/errors';
import { newId } from '@gantry/model/ids';
import type { z } from '@hono/zod-openapi';
import { diskSerialNumber } from '../disks/create.ts';
import { openOperation } from '../operations/open.ts';
import { addressError } from './attach-public-address.ts';
import { addDisks, requireUsableDisks } from './new-disks.ts';
import type { CreateVm } from './schema.ts';
import { toPublicKeys } from './ssh-keys.ts';

type Creation = {
  /** A transaction if the request has disks. */
  sql: Queryable;
  organizationId: string;
  projectId: string;
  /** The user who creates the VM; null for an access key. */
  userId: string | null;
  body: z.output<typeof CreateVm>;
  now: Date;
  deadlineMs: number;
  /**
   * Returns the audit line and the kept reply, which the statement that inserts the VM also writes.
   */
  record: (operation: NewOperation) => WriteRecord;
};

/**
 * Inserts a VM for the scheduler to place, in one statement with its OS disk, interface, operation
 * and audit line. The database checks quotas and names. If a catalogue entry is missing, the
 * statement fails on a null value, and a second query finds out which entry it was.
 */
export async function createVm({
  sql,
  organizationId,
  projectId,
  userId,
  body,
  now,
  deadlineMs,
  record,
}: Creation): Promise<NewOperation> {
  const request = await withPublicKeys({ sql, projectId, userId, body });
  await requireFeatures(sql, body);
  const vm = newVm({ projectId, request, now });
  const { location, disks = [] } = body;
  const withDisks = { sql, organizationId, projectId, vmId: vm.id, location, disks };
  const existing = disks.length > 0 ? await requireUsableDisks(withDisks) : [];
  const operation = openOperation({
    projectId,
    resourceType: 'vm',
    resourceId: vm.id,
    name: 'CREATE',
    request: vm.request,
    now,
    deadlineMs,
    vmType: body.type,
  });
  try {
    await undoIfRefused(sql, (part) =>
      insertVm(part, { vm, operation, record: record(operation) }),
    );
  } catch (error) {
    if (!isMissingValue(error)) throw error;
    const refusal = await readVmRefusal(sql, vm);
    if (refusal === 'no_subnet' && namesNetwork(body)) throw await interfaceError(sql, vm);
    if (refusal === 'unknown_image') throw await imageError(sql, vm);
    if (!refusal && reservedAddressOf(request)) throw await addressError(sql, vm);
    throw refusal ? refusalError(refusal, body) : error;
  }
  if (disks.length > 0) await addDisks({ ...withDisks, existing, now, deadlineMs });
  return operation;
}

/** In a transaction, a refused statement is undone by itself, so that the cause can be read in the same transaction. */
async function undoIfRefused(
  sql: Queryable,
  statement: (part: Queryable) => Promise<void>,
): Promise<void> {
  if ('savepoint' in sql) await (sql as Transaction).savepoint(statement);
  else await statement(sql);
}

/** The features belong to the type, so a request can only state which it expects. */
async function requireFeatures(sql: Queryable, body: Creation['body']): Promise<void> {
  const wanted = body.virtualization_features?.nested_virtualization;
  if (wanted === undefined) return;
  const offered = await readNestedVirtualization(sql, body.type);
  if (offered === undefined || offered === wanted) return;
  const reason = offered
    ? `must be true: guests of the type "${body.type}" can run VMs themselves`
    : `must be false: guests of the type "${body.type}" cannot run VMs themselves`;
  throw badRequest([{ field: 'virtualization_features.nested_virtualization', reason }]);
}

type Wanted = Pick<NewVm, 'projectId' | 'request'> & { now: Date };

function newVm({ projectId, request, now }: Wanted): NewVm {
  const osDiskId = newId(now.getTime());
  return {
    id: newId(now.getTime()),
    projectId,
    request,
    at: now,
    osDisk: {
      id: osDiskId,
      size: OS_DISK_SIZE,
      sizeGib: OS_DISK_GIB,
      serialNumber: diskSerialNumber(osDiskId),
    },
    networkInterface: { id: newId(now.getTime()), macAddress: newMacAddress() },
  };
}

/** The names of stored keys are read only if the request has some. */
async function withPublicKeys({
  sql,
  projectId,
  userId,
  body: { ssh_public_key, ssh_keys, ...body },
}: Pick<Creation, 'sql' | 'projectId' | 'userId' | 'body'>): Promise<VmRequest> {
  return {
    ...body,
    ...(ssh_public_key === undefined ? {} : { ssh_public_key: ssh_public_key.trim() }),
    ...(ssh_keys?.length
      ? { ssh_keys: await toPublicKeys({ sql, projectId, userId, given: ssh_keys }) }
      : {}),
  };
}

/**
 * A locally administered unicast address. Its 40 random bits make a collision in a network
 * unlikely.
 */
function newMacAddress(): string {
  return ['02', ...(randomBytes(5).toString('hex').match(/../g) ?? [])].join(':');
}

/** Says of an image that exists why the VM cannot have it. */
async function imageError(sql: Queryable, { projectId, request }: NewVm): Promise<CloudError> {
  const { image, location } = request;
  const named = await readNamedImage(sql, { projectId, image });
  const wrong = (reason: string) => badRequest([{ field: 'image', reason }]);
  if (named && named.project_id !== null && !named.locations.includes(location)) {
    const [where] = named.locations;
    return wrong(`is stored in "${where}" and the VM would be in "${location}": create it there`);
  }
  if (named && named.state !== 'ready') {
    return new CloudError(
      'conflict',
      `the image "${image}" is ${named.state}: use one that is ready`,
    );
  }
  return new CloudError(
    'unknown_image',
    `there is no image "${image}" in "${location}": see GET …/images`,
  );
}

function refusalError(
  refusal: Exclude<VmRefusal, 'unknown_image'>,
  { type, location }: Creation['body'],
): CloudError {
  switch (refusal) {
    case 'unknown_type':
      return new CloudError('unknown_type', `there is no VM type "${type}": see GET …/specs`);
    case 'unknown_location':
      return unknownLocation(location);
    case 'type_not_in_location':
      return new CloudError(
        'type_not_in_location',
        `"${type}" is not offered in "${location}": see GET …/availabilities`,
      );
    case 'no_subnet':
      return new CloudError(
        'conflict',
        `the default network has no subnet in "${location}": create a subnet there`,
      );
  }
}

function namesNetwork({ network_interfaces: [chosen] = [] }: Creation['body']): boolean {
  return chosen?.network_id !== undefined || chosen?.subnet_id !== undefined;
}

/** Names the member of the interface that no subnet fits. */
async function interfaceError(sql: Queryable, vm: NewVm): Promise<CloudError> {
  const { location, network_interfaces: [chosen] = [] } = vm.request;
  const { network_id, subnet_id } = chosen ?? {};
  const { is_known_network, subnet } = await readInterfaceTargets(sql, vm);
  const wrong = (member: string, reason: string) =>
    badRequest([{ field: `network_interfaces.0.${member}`, reason }]);
  if (network_id !== undefined && !is_known_network) {
    return wrong('network_id', 'is not a network of this project');
  }
  if (subnet_id === undefined) {
    return wrong('network_id', `has no subnet in "${location}": create a subnet there`);
  }
  if (!subnet) return wrong('subnet_id', 'is not a subnet of this project');
  if (network_id !== undefined && subnet.network_id !== network_id) {
    return wrong('subnet_id', 'is not a subnet of the network in network_id');
  }
  return wrong('subnet_id', `is in "${subnet.location}" and the VM in "${location}"`);
}
