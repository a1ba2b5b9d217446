import type { Sql, Transaction } from '@gantry/db/connect';
import { type Lease, lockLease } from '@gantry/db/queries/placement/leases';
import type { VolumePlace } from '@gantry/db/queries/storage/volume-work';
import { transact } from '@gantry/db/transact';

/** Another scheduler holds the lease of the location now, and does what is left. */
export class LeaseLost extends Error {
  override name = 'LeaseLost';
}

/** Runs a transaction that writes only while the lease is held. */
export async function writeWithLease<T>(
  { sql }: { sql: Sql },
  lease: Lease,
  body: (tx: Transaction) => Promise<T>,
): Promise<T> {
  return await transact(sql, async (tx) => {
    if (!(await lockLease(tx, lease))) throw new LeaseLost('the lease of the location is lost');
    return await body(tx);
  });
}

/** The labels of a volume: the row of the cluster stands for this installation, because no other one has its id. */
export function labelsOf({ cluster_id }: Pick<VolumePlace, 'cluster_id'>, resource: string) {
  return { installation: cluster_id, resource };
}
