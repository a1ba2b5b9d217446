import type { Queryable } from '@gantry/db/connect';
import { insertOperation } from '@gantry/db/queries/operations/operations';
import { newId } from '@gantry/model/ids';

/** Inserts a ready backup of a disk in a pool of its own, with the operation that made it. */
export async function addBackup(
  sql: Queryable,
  { projectId, diskId, name }: { projectId: string; diskId: string; name: string },
): Promise<{ id: string; operationId: string }> {
  const [id, clusterId, poolId, operationId] = [newId(), newId(), newId(), newId()];
  await sql`insert into storage_clusters (id, name, monitors, user_name)
    values (${clusterId}, ${`backups-of-${name}`}, '{10.0.0.1:3300}', 'gantry')`;
  // No new disk is stored there.
  await sql`insert into storage_pools (id, cluster_id, name, location, disk_type, active)
    values (${poolId}, ${clusterId}, 'backups', 'us-east-a', 'shared-volume', false)`;
  await sql`insert into backups (id, project_id, name, disk_id, pool_id, location, disk_type, size_gib, block_size,
      sha256, observed_state)
    values (${id}, ${projectId}, ${name}, ${diskId}, ${poolId}, 'eu-north-a', 'persistent-ssd', 1, 512,
      ${'0'.repeat(64)}, 'ready')`;
  const now = new Date();
  await insertOperation(sql, {
    ...{ id: operationId, project_id: projectId, resource_type: 'backup', resource_id: id },
    ...{ name: 'CREATE', state: 'SUCCEEDED', request: {}, result: {}, deadline_ms: 1 },
    ...{ started_at: now, completed_at: now },
  });
  return { id, operationId };
}
