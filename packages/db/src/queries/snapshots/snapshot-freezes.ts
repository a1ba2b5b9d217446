import type { Queryable } from '../../connect.ts';
import type { FreezeState } from '../../schema/snapshots.ts';

/**
 * Guests that are frozen while snapshots are made. A host carries out the order in its spec; its reports move the
 * snapshot from one state to the next. See docs/contract/snapshots.md.
 */

export type SpecFreezeRow = { id: string; vm_id: string; release: boolean };

/** The orders for the host of `r`, as JSON of `SpecFreezeRow`s. */
export const freezesJson = (
  sql: Queryable,
) => sql`(select coalesce(json_agg(json_build_object('id', s.id,
      'vm_id', s.freeze_vm_id, 'release', s.freeze_state = 'taken') order by s.id), '[]')
    from snapshots s join placements p on p.vm_id = s.freeze_vm_id
    where p.host_id = r.host_id and s.desired_state = 'present' and s.observed_state = 'none'
      and s.freeze_state in ('wanted', 'frozen', 'taken'))`;

/** What a host reports about an order, and in which states of the snapshot that means something. */
const MEANINGS = {
  frozen: ['wanted'],
  held: ['taken'],
  expired: ['wanted', 'frozen', 'taken'],
  failed: ['wanted', 'frozen', 'taken'],
} as const satisfies Record<string, readonly FreezeState[]>;
export type ReportedFreeze = { id: string; state: keyof typeof MEANINGS; problem: string };

/** Records what the host of the VM has reported. A report that comes again changes nothing. */
export async function updateReportedFreeze(
  sql: Queryable,
  { hostId, freeze: { id, state, problem } }: { hostId: string; freeze: ReportedFreeze },
): Promise<void> {
  await sql`update snapshots s set freeze_state = ${state}, problem = ${problem} from placements p
    where s.id = ${id} and p.vm_id = s.freeze_vm_id and p.host_id = ${hostId}
      and s.desired_state = 'present' and s.observed_state = 'none'
      and s.freeze_state = any(${[...MEANINGS[state]]}::text[])`;
}

/** Records that the cluster has a snapshot of a guest that was frozen. Its host can thaw it. */
export async function updateSnapshotTaken(sql: Queryable, snapshotId: string): Promise<void> {
  await sql`update snapshots set freeze_state = 'taken'
    where id = ${snapshotId} and desired_state = 'present' and freeze_state = 'frozen'`;
}

/** The guests that write to a disk, with the states of their VMs. The caller has locked the VMs. */
export async function listWritingVms(
  sql: Queryable,
  diskId: string,
): Promise<{ id: string; state: string }[]> {
  return await sql<{ id: string; state: string }[]>`
    select v.id, v.state from disk_attachments a join vms v on v.id = a.vm_id
    where a.disk_id = ${diskId} and a.mode = 'read-write' order by v.id`;
}
