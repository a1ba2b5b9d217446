import { StorageError } from '@gantry/ceph/storage-error';
import type { Log } from '@gantry/daemon/log';
import type { Sql } from '@gantry/db/connect';
import {
  listAddressesKept,
  listLastingFences,
  listLiftableFences,
  removeStorageFence,
  updateFencesLiftable,
} from '@gantry/db/queries/hosts/storage-fences';
import type { ClusterOf } from './clusters.ts';

type Lifting = {
  sql: Sql;
  log: Log;
  clusters: ClusterOf;
  /** The locations whose leases this scheduler has. */
  locations: readonly string[];
};

/**
 * Lifts the fences of servers that have proved that no VM of before the fence runs there. The row is removed after the
 * cluster has lifted the fence, so a kill in between only repeats that.
 */
export async function liftFences({ sql, log, clusters, locations }: Lifting): Promise<void> {
  for (const { clusterId, hostId } of await updateFencesLiftable(sql, locations))
    log.info({ host_id: hostId, cluster_id: clusterId }, 'the server of a fenced host is back');
  for (const { addresses, ...key } of await listLiftableFences(sql, locations)) {
    const { clusterId, hostId } = key;
    const about = { host_id: hostId, cluster_id: clusterId };
    try {
      const cluster = await clusters(clusterId);
      // Another fence may need the same address: the server that is back was fenced twice.
      const kept = await listAddressesKept(sql, key);
      const lifted = addresses.filter((address) => !kept.includes(address));
      await cluster.unfence(lifted);
      // The next holder of the lease may have fenced the server again while this process hung.
      const needed = await listAddressesKept(sql, key);
      const lost = lifted.filter((address) => needed.includes(address));
      if (lost.length > 0) await cluster.fence(lost);
      await removeStorageFence(sql, key);
      log.info(about, 'fence in a storage cluster lifted');
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
      log.warn({ ...about, error }, 'fence in a storage cluster not lifted; will be retried');
    }
  }
}

/** Adds fences again that a cluster has lost: they end after a year there, and people can remove them. */
export async function renewFences({ sql, log, clusters, locations }: Lifting): Promise<void> {
  for (const { clusterId, addresses } of await listLastingFences(sql, locations)) {
    try {
      const cluster = await clusters(clusterId);
      const present = new Set(await cluster.listFences());
      const lost = addresses.filter((address) => !present.has(address));
      if (lost.length === 0) continue;
      await cluster.fence(lost);
      log.warn({ cluster_id: clusterId, addresses: lost }, 'fences were missing; added again');
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
      log.warn({ cluster_id: clusterId, error }, 'fences of a storage cluster not checked');
    }
  }
}
