import type { OperationName } from '@gantry/model/states';
import type { Queryable } from '../../connect.ts';
import { rowByRow } from '../row-by-row.ts';
import { isLostSnapshot } from '../snapshots/host-snapshots.ts';
import { isLostExport } from '../storage/image-exports.ts';

/**
 * What can be settled without a report, because no host has any part of it. Each list locks the
 * rows that it returns and skips rows that others have locked. It reads the rows again after the
 * lock, because a statement's snapshot is older than a lock it waits for, and returns them in the
 * order of their projects: a removal locks the quotas of its project, and quotas are locked in that
 * order.
 */

export type ResourceKey = { id: string; project_id: string };

const isNowhere = (sql: Queryable) => sql`not exists (select from hosts h
  where h.id = d.host_id and h.state <> 'fenced')`;

const isRemovable = (
  sql: Queryable,
) => sql`not v.placed and (v.desired_state = 'deleted' or v.abandoned)
  and not exists (select from disk_attachments a join disks d on d.id = a.disk_id
    where a.vm_id = v.id and a.attachment_type = 'os' and not ${isNowhere(sql)} ${rowByRow(sql)})`;

const isUnplacedDiskChange = (sql: Queryable) =>
  sql`o.state = 'IN_PROGRESS' and o.name in ('ATTACH_DISKS', 'DETACH_DISKS') and not v.placed`;

/** Only the host that stores the snapshot can create it, and an empty disk in its place would be wrong. */
const isMissingCopy = (sql: Queryable) =>
  sql`(d.source_snapshot_id is not null and d.observed_size_gib is null)`;

/** The volume of a disk in a storage cluster is created and grown there, so only its deletion is settled here. */
const isIdleDisk = (sql: Queryable) => sql`d.kind = 'data' and (d.desired_state = 'deleted'
    or d.observed_size_gib is null or d.observed_size_gib < d.size_gib)
  and (d.desired_state = 'deleted' or d.pool_id is null and not ${isMissingCopy(sql)})
  and ${isNowhere(sql)} and not exists (select from disk_attachments a join vms v on v.id = a.vm_id
    where a.disk_id = d.id and (v.placed or d.desired_state = 'deleted') ${rowByRow(sql)})`;

const isGrownDisk = (sql: Queryable) => sql`o.state = 'IN_PROGRESS' and o.resource_type = 'disk'
  and d.desired_state = 'present' and d.observed_size_gib >= d.size_gib and d.restore_snapshot_id is null`;

const isSettledRule = (
  sql: Queryable,
) => sql`(r.desired_state = 'deleted' or r.applied_generation < r.generation)
  and not exists (select from firewall_rule_hosts o where o.rule_id = r.id)`;

export type Unsettled = {
  vms: boolean;
  disk_changes: boolean;
  disks: boolean;
  rules: boolean;
  snapshots: boolean;
  exports: boolean;
};

const unsettledVm = (sql: Queryable) => sql`exists (select from vms v where ${isRemovable(sql)})`;
const unsettledDiskChange = (sql: Queryable) => sql`exists (select from operations o
  join vms v on v.id = o.resource_id where ${isUnplacedDiskChange(sql)})`;
const unsettledDisk = (sql: Queryable) => sql`(exists (select from disks d where ${isIdleDisk(sql)})
  or exists (select from operations o join disks d on d.id = o.resource_id where ${isGrownDisk(sql)}))`;
const unsettledRule = (sql: Queryable) => sql`exists (select from firewall_rules r
  where ${isSettledRule(sql)})`;

const unsettledSnapshot = (sql: Queryable) => sql`exists (select from snapshots s
  where ${isLostSnapshot(sql)})`;

const lostExport = (sql: Queryable) => sql`exists (select from custom_images c
  where ${isLostExport(sql)})`;

/** Whether there is anything to settle, as part of a statement over small indexes. */
export const hasUnsettled = (sql: Queryable) =>
  sql`(${unsettledVm(sql)} or ${unsettledDiskChange(sql)} or ${unsettledDisk(sql)} or ${unsettledRule(sql)}
    or ${unsettledSnapshot(sql)} or ${lostExport(sql)})`;

/** Returns what there is to settle. */
export async function readUnsettled(sql: Queryable): Promise<Unsettled> {
  const [row] = await sql<Unsettled[]>`
    select ${unsettledVm(sql)} as vms, ${unsettledDiskChange(sql)} as disk_changes,
      ${unsettledDisk(sql)} as disks, ${unsettledRule(sql)} as rules, ${unsettledSnapshot(sql)} as snapshots,
      ${lostExport(sql)} as exports`;
  const nothing = { vms: false, disk_changes: false, disks: false, rules: false };
  return row ?? { ...nothing, snapshots: false, exports: false };
}

/** Locks VMs to remove that are not placed and whose OS disk no host stores. */
export async function lockRemovableVms(sql: Queryable, limit: number): Promise<ResourceKey[]> {
  const locked = await sql<{ id: string }[]>`
    select v.id from vms v where ${isRemovable(sql)} order by v.id limit ${limit} for update skip locked`;
  return await sql<ResourceKey[]>`
    select v.id, v.project_id from vms v where v.id = any(${idsOf(locked)}::uuid[]) and ${isRemovable(sql)}
    order by v.project_id, v.id`;
}

/** Locks the disks of VMs that the caller has locked, in the order of ids. Returns their ids. */
export async function lockDisksOfVms(sql: Queryable, vmIds: readonly string[]): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select id from disks where id in (select disk_id from disk_attachments where vm_id = any(${[...vmIds]}::uuid[]))
    order by id for update`;
  return idsOf(rows);
}

/** Locks VMs that are not placed and have an unfinished attach or detach operation. */
export async function lockUnplacedDiskChanges(
  sql: Queryable,
  limit: number,
): Promise<ResourceKey[]> {
  const locked = await sql<{ id: string }[]>`
    select v.id from operations o join vms v on v.id = o.resource_id
    where ${isUnplacedDiskChange(sql)} order by v.id limit ${limit} for update of v skip locked`;
  return await sql<ResourceKey[]>`
    select v.id, v.project_id from operations o join vms v on v.id = o.resource_id
    where v.id = any(${idsOf(locked)}::uuid[]) and ${isUnplacedDiskChange(sql)} order by v.id`;
}

/**
 * Locks the numbers of the hosts that keep disks which the VMs are about to lose and which have yet to grow: the host
 * of a disk that no VM has grows it.
 */
export async function lockHostsOfDetachedDisks(sql: Queryable, vmIds: string[]): Promise<void> {
  await sql`select from host_revisions where host_id = any(array(select hosts_growing(array(
      select disk_id from disk_attachments where vm_id = any(${vmIds}::uuid[]) and desired_state = 'detached'))))
    order by host_id for update`;
}

/** No host has to do anything: the change takes effect at the next start. */
export async function settleAttachmentsUnplaced(sql: Queryable, vmId: string): Promise<void> {
  await sql`delete from disk_attachments where vm_id = ${vmId} and desired_state = 'detached'`;
  await sql`update disk_attachments set attached = true where vm_id = ${vmId}`;
}

export type UnsettledDisk = ResourceKey & {
  organization_id: string;
  region: string;
  type: string;
  size_gib: number;
  desired_state: 'present' | 'deleted';
  observed_size_gib: number | null;
  operation: OperationName | null;
  /** Whether no host stores the disk: it was never created, or its host is gone. */
  idle: boolean;
};

/** Locks data disks that no host stores, or whose host has finished the requested change. */
export async function lockUnsettledDisks(sql: Queryable, limit: number): Promise<UnsettledDisk[]> {
  const idle = await sql<{ id: string }[]>`
    select d.id from disks d where ${isIdleDisk(sql)} order by d.id limit ${limit} for update skip locked`;
  const grown = await sql<{ id: string }[]>`
    select d.id from operations o join disks d on d.id = o.resource_id
    where ${isGrownDisk(sql)} order by d.id limit ${limit} for update of d skip locked`;
  return await sql<UnsettledDisk[]>`
    select d.id, d.project_id, j.organization_id, l.region, d.type, d.size_gib, d.desired_state, d.observed_size_gib,
      (select o.name from operations o where o.resource_id = d.id and o.state = 'IN_PROGRESS') as operation,
      ${isIdleDisk(sql)} as idle
    from disks d join projects j on j.id = d.project_id join locations l on l.name = d.location
    where d.id = any(${idsOf([...idle, ...grown])}::uuid[]) order by d.project_id, d.id`;
}

export async function updateDiskObserved(
  sql: Queryable,
  { diskId, sizeGib }: { diskId: string; sizeGib: number },
): Promise<void> {
  await sql`update disks set observed_size_gib = ${sizeGib} where id = ${diskId}`;
}

export async function removeDisk(sql: Queryable, diskId: string): Promise<void> {
  await sql`delete from disks where id = ${diskId}`;
}

/** Locks rules that every host of the network has applied, or has removed. */
export async function lockSettledRules(
  sql: Queryable,
  limit: number,
): Promise<(ResourceKey & { desired_state: 'present' | 'deleted' })[]> {
  const locked = await sql<{ id: string }[]>`
    select r.id from firewall_rules r where ${isSettledRule(sql)} order by r.id limit ${limit}
    for update skip locked`;
  return await sql<(ResourceKey & { desired_state: 'present' | 'deleted' })[]>`
    select r.id, r.project_id, r.desired_state from firewall_rules r
    where r.id = any(${idsOf(locked)}::uuid[]) and ${isSettledRule(sql)}
    order by r.project_id, r.id`;
}

export async function updateRuleApplied(sql: Queryable, ruleId: string): Promise<void> {
  await sql`update firewall_rules set applied_generation = generation where id = ${ruleId}`;
}

export async function removeRule(sql: Queryable, ruleId: string): Promise<void> {
  await sql`delete from firewall_rules where id = ${ruleId}`;
}

function idsOf(rows: { id: string }[]): string[] {
  return [...new Set(rows.map(({ id }) => id))];
}
