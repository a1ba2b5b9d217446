import type { Sql } from '@gantry/db/connect';
import {
  type Fitting,
  type OfferedType,
  osDiskOf,
  recordAvailabilities,
} from '@gantry/db/queries/catalogue/availabilities';
import { type Lease, lockLease } from '@gantry/db/queries/placement/leases';
import { transact } from '@gantry/db/transact';
import { whyNoHost } from '@gantry/placement/choose-host';
import { countFitting } from '@gantry/placement/count-fitting';
import type { PlacementRequest } from '@gantry/placement/host';
import type { HostIndex } from '@gantry/placement/host-index';
import { requestFor } from '@gantry/placement/request-for';

type Availabilities = {
  sql: Sql;
  lease: Lease;
  index: HostIndex;
  /** The types that the location offers. */
  types: readonly OfferedType[];
  /** The values that this lease holder has written. This function updates them. */
  written: Map<string, Fitting>;
};

/**
 * More are not counted. Tenants do not need more, and the counts of a large location with much room do not change with
 * every VM, so they are not written again.
 */
const MOST_COUNTED = 100;

/** Records which VM types have room in the location. Returns false if the lease is lost. */
export async function writeAvailabilities(options: Availabilities): Promise<boolean> {
  const { sql, lease, index, types, written } = options;
  const { location } = lease;
  const changed = new Map<string, Fitting>();
  for (const type of types) {
    const now = fittingOf(index, requestFor(location, type, osDiskOf(type)));
    const before = written.get(type.name);
    if (before?.fitting !== now.fitting || before.lacking !== now.lacking)
      changed.set(type.name, now);
  }
  if (changed.size === 0) return true;
  const held = await transact(sql, async (tx) => {
    if (!(await lockLease(tx, lease))) return false;
    await recordAvailabilities(tx, { location, types: changed });
    return true;
  });
  if (held) for (const [name, now] of changed) written.set(name, now);
  return held;
}

function fittingOf(index: HostIndex, request: PlacementRequest): Fitting {
  const fitting = countFitting(index, request, MOST_COUNTED);
  return { fitting, lacking: fitting > 0 ? '' : (whyNoHost(index, request).at(-1)?.filter ?? '') };
}
