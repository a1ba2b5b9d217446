import { StorageError } from '@gantry/ceph/storage-error';
import type { Log } from '@gantry/daemon/log';
import type { Sql } from '@gantry/db/connect';
import {
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
  for (const { clusterId, hostId, addresses, keptAddresses } of await listLiftableFences(
    sql,
    locations,
  )) {
    const about = { host_id: hostId, cluster_id: clusterId };
    try {
      const cluster = await clusters(clusterId);
      // Another fence may need the same address: the server that is back was fenced twice.
      await cluster.unfence(addresses.filter((address) => !keptAddresses.includes(address)));
      await removeStorageFence(sql, { clusterId, hostId });
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
