import type { Queryable } from '../../connect.ts';

/** The cluster may have a snapshot of the backup `b` that no later backup needs. */
export const hasOldSnapshot = (sql: Queryable) => sql`b.has_snapshot and b.desired_state = 'present'
  and (b.observed_state = 'failed' or (b.observed_state = 'ready' and exists (select from backups o
    where o.disk_id = b.disk_id and o.id > b.id and o.state = 'ready' and o.has_snapshot)))`;

/**
 * Whether there is a backup to make or to remove in the locations, as part of a statement over small indexes. Old snapshots
 * are not part of it, because each disk with a backup would be looked at: they are found after every backup, and once a
 * minute.
 */
export function hasBackupWork(sql: Queryable, locations: readonly string[]) {
  return sql`exists (select from backups b where b.location = any(${[...locations]}::text[])
    and (b.desired_state = 'deleted' or b.observed_state = 'none'))`;
}
