import type { Sql } from '@gantry/db/connect';
import {
  type OfferedType,
  recordAvailabilities,
} from '@gantry/db/queries/catalogue/availabilities';
import { type Lease, lockLease } from '@gantry/db/queries/placement/leases';
import { transact } from '@gantry/db/transact';
import { OS_DISK_GIB } from '@gantry/model/disk-size';
import { isAvailable } from '@gantry/placement/choose-host';
import type { HostIndex } from '@gantry/placement/host-index';
import { requestFor } from '@gantry/placement/request-for';

type Availabilities = {
  sql: Sql;
  lease: Lease;
  index: HostIndex;
  /** The types that the location offers. */
  types: readonly OfferedType[];
  /** The values that this lease holder has written. This function updates them. */
  written: Map<string, boolean>;
};

/** Records which VM types have room in the location. Returns false if the lease is lost. */
export async function writeAvailabilities(options: Availabilities): Promise<boolean> {
  const { sql, lease, index, types, written } = options;
  const { location } = lease;
  const available = new Map<string, boolean>();
  for (const type of types) {
    const now = isAvailable(index, requestFor(location, type, OS_DISK_GIB));
    if (written.get(type.name) !== now) available.set(type.name, now);
  }
  if (available.size === 0) return true;
  const held = await transact(sql, async (tx) => {
    if (!(await lockLease(tx, lease))) return false;
    await recordAvailabilities(tx, { location, available });
    return true;
  });
  if (held) for (const [name, now] of available) written.set(name, now);
  return held;
}
