import type { Queryable } from '../../connect.ts';

/** Whether the host that stores the disk `d` makes a snapshot of it now. */
export const isBeingCopied = (
  sql: Queryable,
) => sql`(d.pool_id is null and exists (select from snapshots s
  where s.disk_id = d.id and s.desired_state = 'present' and s.observed_state = 'none'))`;
