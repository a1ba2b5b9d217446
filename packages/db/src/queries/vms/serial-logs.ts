import type { Queryable } from '../../connect.ts';

export type SerialLogRow = { tail: string; updated_at: Date | null };

/** Returns an empty text if there is no output yet, and undefined if there is no such VM. */
export async function readSerialLog(
  sql: Queryable,
  { projectId, vmId }: { projectId: string; vmId: string },
): Promise<SerialLogRow | undefined> {
  const [row] = await sql<SerialLogRow[]>`
    select coalesce(l.tail, '') as tail, l.updated_at
    from vms v left join serial_logs l on l.vm_id = v.id
    where v.project_id = ${projectId} and v.id = ${vmId}`;
  return row;
}
