import { GIB } from '@gantry/daemon/units';
import type { Lease } from '@gantry/db/queries/placement/leases';
import {
  listPoolsOf,
  type PoolRow,
  updatePoolProblem,
  updatePoolSpace,
} from '@gantry/db/queries/storage/pools';
import { wantMissingKeys } from '@gantry/db/queries/storage/volume-keys';
import { LeaseLost, writeWithLease } from './lease-writes.ts';
import { describeDifferences, findDifferences } from './sweep.ts';
import type { VolumeContext } from './volume-context.ts';
import { resealKeys } from './volume-keys.ts';
import { resealPassphrases } from './volume-passphrases.ts';

export type PoolWatch = { look(leases: readonly Lease[]): Promise<void> };

/** Images in the trash can be removed when their last clone is gone, which is seldom. */
const TRASH_MS = 600_000;
/** A sweep lists all volumes and keys. */
const SWEEP_MS = 3_600_000;

const FULL =
  'the pool is full: guests that write to it wait, and new disks are refused; add OSDs or delete disks';

/**
 * Reads the space of pools, removes what is in their trash, repairs what a crash may have left, and reports how a pool
 * differs from the database.
 */
export function createPoolWatch(
  context: VolumeContext,
  { sweepMs = SWEEP_MS }: { sweepMs?: number } = {},
): PoolWatch {
  const { sql, log, clusters } = context;
  const emptiedAtMs = new Map<string, number>();
  const resealed = new Set<string>();
  const swept = new Map<string, { atMs: number; problem: string }>();

  const sweep = async (pool: PoolRow): Promise<string> => {
    const last = swept.get(pool.id);
    if (last && performance.now() < last.atMs + sweepMs) return last.problem;
    const differences = await clusters.use(pool.cluster_id, (cluster) =>
      findDifferences({ context, cluster, pool }),
    );
    const problem = describeDifferences(differences);
    if (problem !== (last?.problem ?? ''))
      log.warn({ pool: pool.name, ...differences }, 'storage pool compared with the database');
    swept.set(pool.id, { atMs: performance.now(), problem });
    return problem;
  };

  const lookAt = async (pool: PoolRow, lease: Lease) => {
    const { id: poolId, cluster_id, name } = pool;
    try {
      // Before the cluster is asked: a passphrase that was not sealed again is lost together with the old fleet key.
      if (!resealed.has(poolId)) {
        await resealPassphrases(context, poolId);
        resealed.add(poolId);
      }
      const space = await clusters.use(cluster_id, (cluster) => cluster.readPool(name));
      const sizeGib = space && Math.floor(space.sizeBytes / GIB);
      const usedGib = Math.ceil((space?.usedBytes ?? 0) / GIB);
      const isFull = await clusters.use(cluster_id, (cluster) => cluster.isPoolFull(name));
      const differences = await sweep(pool);
      const problem = isFull ? FULL : differences;
      await writeWithLease({ sql }, lease, async (tx) => {
        await updatePoolSpace(tx, { poolId, sizeGib, usedGib, problem });
        await wantMissingKeys(tx, poolId);
      });
      const emptiedMs = emptiedAtMs.get(poolId);
      if (emptiedMs === undefined) await resealKeys(context, poolId);
      if (emptiedMs === undefined || performance.now() > emptiedMs + TRASH_MS) {
        emptiedAtMs.set(poolId, performance.now());
        // The content of a shared volume is removed with it.
        if (pool.file_system === '')
          await clusters.use(cluster_id, (cluster) => cluster.emptyTrash(name));
      }
    } catch (error) {
      if (error instanceof LeaseLost) return;
      const problem = error instanceof Error ? error.message : String(error);
      log.warn({ pool: name, location: pool.location, error }, 'storage pool not readable');
      await writeWithLease({ sql }, lease, (tx) => updatePoolProblem(tx, { poolId, problem }));
    }
  };

  return {
    async look(leases) {
      const pools = await listPoolsOf(
        sql,
        leases.map(({ location }) => location),
      );
      // At the same time, so that a cluster that does not reply delays no other.
      await Promise.all(
        pools.map(async (pool) => {
          const lease = leases.find(({ location }) => location === pool.location);
          if (lease) await lookAt(pool, lease);
        }),
      );
    },
  };
}
