import { StorageError } from '@gantry/ceph/storage-error';
import type { StorageCluster } from '@gantry/ceph/storage-cluster';
import type { Log } from '@gantry/daemon/log';
import type { Queryable, Sql } from '@gantry/db/connect';
import { type Lease, lockLease } from '@gantry/db/queries/placement/leases';
import { transact } from '@gantry/db/transact';

/** What the holder of a location's lease needs to work in the storage clusters there. */
export type StorageWork = {
  sql: Sql;
  log: Log;
  lease: Lease;
  /** The installation that volumes are labelled with. */
  installation: string;
  /** Returns undefined if the cluster cannot be used now. */
  cluster(clusterId: string): StorageCluster | undefined;
};

/**
 * One change in a storage cluster that may take long. It ends with a transaction that records it. A task that was
 * interrupted anywhere can be run again.
 */
export type StorageTask = { key: string; run(): Promise<void> };

export const GIB = 2 ** 30;

/** Writes nothing and returns false if the lease is no longer held. */
export async function recordAsHolder(
  { sql, lease }: Pick<StorageWork, 'sql' | 'lease'>,
  write: (transaction: Queryable) => Promise<void>,
): Promise<boolean> {
  return await transact(sql, async (transaction) => {
    if (!(await lockLease(transaction, lease))) return false;
    await write(transaction);
    return true;
  });
}

const FINAL: ReadonlySet<string> = new Set(['not_found', 'exists', 'failed']);

/** Returns whether another attempt would fail for the same reason. */
export function isFinal(error: unknown): error is StorageError {
  return error instanceof StorageError && FINAL.has(error.code);
}

/** Returns what to record about an error; anything else than a StorageError is a mistake of ours, and is thrown. */
export function problemOf(error: unknown): string {
  if (error instanceof StorageError) return error.message;
  throw error;
}
