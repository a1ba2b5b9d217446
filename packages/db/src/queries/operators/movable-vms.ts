import type { Queryable } from '../../connect.ts';
import { type TypeAmounts, typeAmounts } from '../catalogue/type-amounts.ts';

export type MovableVm = TypeAmounts & {
  project_id: string;
  /** Null while it is placed on no host. */
  host_id: string | null;
  /** How many of its disks a host stores. */
  local_disks: number;
};

/** Returns what decides whether an operator can move the VM. */
export async function readMovableVm(sql: Queryable, vmId: string): Promise<MovableVm | undefined> {
  const [row] = await sql<MovableVm[]>`select v.project_id, p.host_id, ${typeAmounts(sql)},
      (select count(*)::integer from disk_attachments a join disks d on d.id = a.disk_id
        where a.vm_id = v.id and d.pool_id is null) as local_disks
    from vms v join vm_types t on t.name = v.type left join placements p on p.vm_id = v.id where v.id = ${vmId}`;
  return row;
}
