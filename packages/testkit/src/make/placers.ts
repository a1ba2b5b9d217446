import type { Sql } from '@gantry/db/connect';
import { listTakenAddresses } from '@gantry/db/queries/networks/addresses';
import type { Lease } from '@gantry/db/queries/placement/leases';
import { newId } from '@gantry/model/ids';
import { createAddressAllocator } from '@gantry/scheduler/place/address-allocator';
import { createHostCache } from '@gantry/scheduler/place/host-cache';
import type { Placer } from '@gantry/scheduler/place/place-pending';

/** The parts of a scheduler that place VMs, without the loops around them. */

export function makePlacer(sql: Sql, lease: Lease): Placer {
  const hostCache = createHostCache({ sql, location: lease.location });
  return {
    ...{ sql, writeSql: sql },
    lease,
    hostCache,
    addresses: createAddressAllocator((ranges) => listTakenAddresses(sql, ranges)),
  };
}

/** Something happens between what the placer decides next and its commit. */
export function meanwhile({ addresses }: Placer, happens: () => Promise<unknown>): void {
  const { open } = addresses;
  addresses.open = async (needs) => {
    addresses.open = open;
    const opened = await open(needs);
    await happens();
    return opened;
  };
}

/** A lease holder without a competitor. */
export async function holdLocation(sql: Sql, location = 'eu-north-a'): Promise<Lease> {
  const holder = newId();
  const [row] = await sql<{ epoch: number }[]>`
    insert into leases (location, holder, epoch, expires_at) values (${location}, ${holder}, 1, now() + interval '1 hour')
    on conflict (location) do update set holder = excluded.holder, epoch = leases.epoch + 1, expires_at = excluded.expires_at
    returning epoch::int`;
  return { location, holder, epoch: row?.epoch ?? 0 };
}
