import type { HostState } from '@gantry/model/host-states';
import type { Queryable } from '../../connect.ts';
import type { UnresponsiveVm } from '../../schema/hosts.ts';
import { isEraCurrent } from '../maintenance/era.ts';

/** What reports change on the host itself. */

export type { UnresponsiveVm };

export type SettledHost = {
  state: HostState;
  accepted_number: string;
  refusal: string;
  unknown_vms: string[];
  unresponsive_vms: UnresponsiveVm[];
  has_orphans: boolean;
  /** Whether it is open what becomes of VMs that it did not run when an era began. */
  has_absent_vms: boolean;
  failed_builds: number;
  shared_storage: boolean;
  awaits_era: boolean;
};

/**
 * Returns the host if this is its newest stream, and locks it so that no other stream is opened
 * until the transaction ends. Returns undefined too if commits may be lost and no new era has begun.
 * The lock is as strong as later changes need it, because upgrading a lock can deadlock.
 */
export async function lockHostOfStream(
  sql: Queryable,
  { hostId, streamEpoch }: { hostId: string; streamEpoch: string },
): Promise<SettledHost | undefined> {
  const [row] = await sql<SettledHost[]>`
    select state, accepted_number, refusal, unknown_vms, unresponsive_vms, failed_builds, shared_storage, awaits_era,
      exists (select from orphans o where o.host_id = hosts.id) as has_orphans,
      exists (select from era_differences d where d.host_id = hosts.id and d.outcome = 'pending') as has_absent_vms
    from hosts
    where id = ${hostId} and stream_epoch = ${streamEpoch} and fenced_at is null and ${isEraCurrent(sql)}
    for no key update`;
  return row;
}

export async function updateHostReport(
  sql: Queryable,
  report: {
    hostId: string;
    acceptedNumber: string;
    refusal: string;
    unknownVms: string[];
    unresponsiveVms: UnresponsiveVm[];
  },
): Promise<void> {
  await sql`update hosts set accepted_number = ${report.acceptedNumber}, refusal = ${report.refusal},
    unknown_vms = ${report.unknownVms}, unresponsive_vms = ${sql.json(report.unresponsiveVms)}
    where id = ${report.hostId}`;
}

/** Records which specs the host has accepted and applied. Returns false if the stream is stale. */
export async function updateHostNumbers(
  sql: Queryable,
  host: { hostId: string; streamEpoch: string; acceptedNumber: string; firewallNumber: string },
): Promise<boolean> {
  const rows = await sql`
    with host as (update hosts set accepted_number = ${host.acceptedNumber}
        where id = ${host.hostId} and stream_epoch = ${host.streamEpoch} and fenced_at is null and ${isEraCurrent(sql)}
        returning id),
      settled as (delete from firewall_rule_hosts where host_id in (select id from host)
        and number <= ${host.firewallNumber})
    select id from host`;
  return rows.length > 0;
}

/** Records that the host has applied every rule of this spec. */
export async function removeConfirmedRules(
  sql: Queryable,
  { hostId, number }: { hostId: string; number: string },
): Promise<void> {
  await sql`delete from firewall_rule_hosts where host_id = ${hostId} and number <= ${number}`;
}

/** Locks the disks in the order of ids. Disks are locked before hosts. */
export async function lockReportedDisks(
  sql: Queryable,
  { hostId, diskIds }: { hostId: string; diskIds: string[] },
): Promise<void> {
  // One array, because two conditions with "or" would scan all disks.
  await sql`select from disks where id = any(
      array(select a.disk_id from disk_attachments a join placements p on p.vm_id = a.vm_id
        where p.host_id = ${hostId})
      || array(select d.id from disks d where d.id = any(${diskIds}::uuid[]) and d.host_id = ${hostId}))
    order by id for update`;
}

/**
 * Records disks that the host reports: disks that have grown while they are attached to no VM, and
 * disks without a known host that a VM of this host has (`newIds`). The latter were created for a VM
 * that is released before it ran with them. A host cannot take over any other disk.
 */
export async function updateReportedDisks(
  sql: Queryable,
  {
    hostId,
    disks,
    newIds,
  }: { hostId: string; disks: { id: string; sizeGib: number }[]; newIds: string[] },
): Promise<void> {
  await sql`update disks d set host_id = ${hostId}, observed_size_gib = case when d.host_id is null
        then d.observed_size_gib else least(d.size_gib, r.size_gib::integer) end
    from unnest(${disks.map(({ id }) => id)}::uuid[],
      ${disks.map(({ sizeGib }) => String(sizeGib))}::text[]) as r (id, size_gib)
    where d.id = r.id and d.pool_id is null and (d.host_id is null and d.id = any(${newIds}::uuid[]) or d.host_id = ${hostId} and d.desired_state = 'present'
      and coalesce(d.observed_size_gib, 0) < least(d.size_gib, r.size_gib::integer))`;
}

export async function updateDisksGone(
  sql: Queryable,
  { hostId, diskIds }: { hostId: string; diskIds: string[] },
): Promise<void> {
  await sql`update disks d set host_id = null where d.id = any(${diskIds}::uuid[]) and d.host_id = ${hostId}
    and (d.desired_state = 'deleted' or exists (select from disk_attachments a join vms v on v.id = a.vm_id
      where a.disk_id = d.id and not v.placed and (v.desired_state = 'deleted' or v.abandoned)))`;
}

export async function upsertSerialLogs(
  sql: Queryable,
  { hostId, logs }: { hostId: string; logs: { vmId: string; tail: string }[] },
): Promise<void> {
  for (const { vmId, tail } of logs) {
    await sql`insert into serial_logs (vm_id, tail)
      select vm_id, ${tail.replaceAll('\0', '')} from placements where vm_id = ${vmId} and host_id = ${hostId}
      on conflict (vm_id) do update set tail = excluded.tail, updated_at = now()
        where serial_logs.tail <> excluded.tail`;
  }
}

/** The host has reported what it has in this era: VMs may be placed on it again. */
export async function updateHostReported(sql: Queryable, hostId: string): Promise<void> {
  await sql`update hosts set awaits_era = false where id = ${hostId}`;
}
