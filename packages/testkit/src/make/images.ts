import type { Queryable } from '@gantry/db/connect';
import { insertProjectImage } from '@gantry/db/queries/images/project-images';
import { insertOperation } from '@gantry/db/queries/operations/operations';
import { newId } from '@gantry/model/ids';

/** Inserts a ready image of a project in a pool of its own, with the operation that made it. */
export async function addProjectImage(
  sql: Queryable,
  { projectId, name }: { projectId: string; name: string },
): Promise<{ id: string; operationId: string }> {
  const [id, clusterId, poolId, operationId] = [newId(), newId(), newId(), newId()];
  await sql`insert into storage_clusters (id, name, monitors, user_name)
    values (${clusterId}, ${`of-${name}`}, '{10.0.0.1:3300}', 'gantry')`;
  // No new disk is stored there.
  await sql`insert into storage_pools (id, cluster_id, name, location, disk_type, active)
    values (${poolId}, ${clusterId}, 'images', 'us-east-a', 'shared-volume', false)`;
  const at = new Date();
  await insertProjectImage(sql, {
    ...{ id, projectId, name, description: '', tags: [], visibility: 'project', poolId, at },
    ...{ location: 'eu-north-a', sizeGib: 1, source: { snapshotId: newId() } },
  });
  await sql`update custom_images set observed_state = 'ready' where id = ${id}`;
  await insertOperation(sql, {
    ...{ id: operationId, project_id: projectId, resource_type: 'image', resource_id: id },
    ...{ name: 'CREATE', state: 'SUCCEEDED', request: {}, result: {}, deadline_ms: 1 },
    ...{ started_at: at, completed_at: at },
  });
  return { id, operationId };
}
