import type { Queryable } from '@gantry/db/connect';
import { listLocations } from '@gantry/db/queries/catalogue/catalogue';
import { updateNameAndTags } from '@gantry/db/queries/listing';
import {
  insertReservation,
  lockReservedAddress,
  type ReservedAddressRow,
  readReservedAddress,
  removeReservedAddress,
} from '@gantry/db/queries/networks/reserved-addresses';
import { CloudError, notFound, unknownLocation } from '@gantry/model/errors';
import { newId } from '@gantry/model/ids';
import type { z } from '@hono/zod-openapi';
import type { ChangeReservedAddress, ReserveAddress } from './schema.ts';

type Reservation = {
  sql: Queryable;
  projectId: string;
  body: z.output<typeof ReserveAddress>;
  now: Date;
};

export async function reserveAddress({
  sql,
  projectId,
  body,
  now,
}: Reservation): Promise<ReservedAddressRow> {
  const id = newId(now.getTime());
  const { tags = {}, ...wanted } = body;
  const isReserved = await insertReservation(sql, { id, projectId, ...wanted, tags, at: now });
  if (!isReserved) throw await noneFree(sql, body.location);
  return requireAddress(await readReservedAddress(sql, { projectId, addressId: id }));
}

async function noneFree(sql: Queryable, location: string): Promise<CloudError> {
  const isKnown = (await listLocations(sql)).some(({ name }) => name === location);
  if (!isKnown) return unknownLocation(location);
  return new CloudError(
    'conflict',
    `no public address is free in "${location}": try again later, or choose another location`,
  );
}

type Target = { sql: Queryable; projectId: string; addressId: string };

export async function changeAddress({
  sql,
  body,
  ...key
}: Target & { body: z.output<typeof ChangeReservedAddress> }): Promise<ReservedAddressRow> {
  const { projectId, addressId: id } = key;
  await updateNameAndTags(sql, { table: 'reserved_addresses', projectId, id, ...body });
  return requireAddress(await readReservedAddress(sql, key));
}

/** Returns the address to the pool. The lock excludes an attachment at the same time. */
export async function releaseAddress({ sql, ...key }: Target): Promise<ReservedAddressRow> {
  const address = requireAddress(await lockReservedAddress(sql, key));
  if (address.vm_id !== null) {
    throw new CloudError(
      'conflict',
      `the public address is attached to the VM ${address.vm_id}: detach it first, or delete the VM and wait until it is gone`,
    );
  }
  await removeReservedAddress(sql, key.addressId);
  return address;
}

export function requireAddress(row: ReservedAddressRow | undefined): ReservedAddressRow {
  if (!row) throw notFound('public address');
  return row;
}
