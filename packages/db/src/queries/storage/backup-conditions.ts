import type { Queryable } from '../../connect.ts';

/** The cluster may have a snapshot of the backup `b` that no later backup needs. */
export const hasOldSnapshot = (sql: Queryable) => sql`b.has_snapshot and b.desired_state = 'present'
  and (b.observed_state = 'failed' or (b.observed_state = 'ready' and exists (select from backups o
    where o.disk_id = b.disk_id and o.id > b.id and o.state = 'ready' and o.has_snapshot)))`;

/** Whether there is anything to do for backups in the locations, as part of a statement over small indexes. */
export function hasBackupWork(sql: Queryable, locations: readonly string[]) {
  const here = sql`any(${[...locations]}::text[])`;
  return sql`(exists (select from backups b where b.location = ${here}
      and (b.desired_state = 'deleted' or b.observed_state = 'none'))
    or exists (select from backups b where b.location = ${here} and ${hasOldSnapshot(sql)}))`;
}
