import type { DifferenceKind, DifferenceOutcome } from '@gantry/model/host-states';
import { newId } from '@gantry/model/ids';
import type { Queryable } from '../../connect.ts';
import { isEraCurrent } from './era.ts';

/** How hosts differ from the database in an era. */
export type Differences = {
  /** Hosts that have not accepted a spec of the era, and how many VMs the database has there. */
  missing: { host_id: string; name: string; state: string; refusal: string; vms: number }[];
  /** Hosts of the fleet that the database does not know, seen in the day before the era or later. */
  strays: { host_id: string; address: string }[];
  /** VMs on hosts that the database does not place there. */
  orphans: {
    id: string;
    host: string;
    vm_id: string;
    name: string;
    project_id: string | null;
  }[];
  /** VMs of the database that their hosts do not have, whenever the hosts reported it. */
  lost: { vm_id: string; project_id: string; message: string }[];
  /** How hosts differed from the database when an era of the last day began, besides orphans. */
  changed: {
    host: string;
    kind: DifferenceKind;
    vm_id: string | null;
    project_id: string | null;
    disk_id: string | null;
    network_id: string | null;
    outcome: DifferenceOutcome;
  }[];
};

/** An operator may run the restore command again, which begins another era. Eras are in seconds. */
const LISTED_SECONDS = 86_400;

export async function readDifferences(sql: Queryable, era: string): Promise<Differences> {
  const [missing, strays, orphans, lost, changed] = await Promise.all([
    sql<Differences['missing']>`
      select id as host_id, name, state, refusal,
        (select count(*) from placements p where p.host_id = hosts.id)::int as vms
      from hosts where fenced_at is null and accepted_number < ${era}::bigint * 1000 order by name`,
    sql<Differences['strays']>`
      select host_id, address from stray_hosts s
      where last_seen_at > to_timestamp(${era}::bigint - ${LISTED_SECONDS})
        and not exists (select from hosts where id = s.host_id) order by host_id`,
    sql<Differences['orphans']>`
      select o.id, h.name as host, o.vm_id, o.name, o.project_id
      from orphans o join hosts h on h.id = o.host_id order by h.name, o.vm_id`,
    sql<Differences['lost']>`
      select distinct on (v.id) v.id as vm_id, v.project_id, e.message
      from events e join vms v on v.id = e.resource_id
      where e.type = 'vm_lost' and v.state = 'STATE_ERROR' order by v.id, e.id desc`,
    sql<Differences['changed']>`
      select distinct h.name as host, d.kind, d.vm_id, coalesce(v.project_id, n.project_id) as project_id, d.disk_id,
        d.network_id, d.outcome
      from era_differences d join hosts h on h.id = d.host_id left join vms v on v.id = d.vm_id
      left join networks n on n.id = d.network_id
      where d.era > ${era}::bigint - ${LISTED_SECONDS} and not (d.kind = 'disk_unknown' and ${isWithListedVm(sql)})
      order by h.name, d.vm_id, d.kind, d.disk_id, d.network_id`,
  ]);
  return { missing, strays, orphans, lost, changed };
}

/** Whether the disk of `d` is with a VM that is listed, perhaps on another host that shares the storage. */
const isWithListedVm = (sql: Queryable) => sql`(
  exists (select from era_differences x where x.disk_id = d.disk_id and x.kind = 'disk_attached')
  or exists (select from orphans o
    where o.description -> 'disks' @> jsonb_build_array(jsonb_build_object('id', d.disk_id))))`;

/** A difference as its host reports it, with ids that have the form of one. */
export type FoundDifference = {
  kind: DifferenceKind;
  vmId?: string;
  diskId?: string;
  networkId?: string;
};

/**
 * Locks the host if it is to be compared with the database: once in an era, and whenever it is ahead of the
 * database although no era has begun. Returns the era, or the time at which the next one would begin. The era is
 * read after the lock is taken, because the lock may have waited for a new era to begin.
 */
export async function lockHostToCompare(
  sql: Queryable,
  { hostId, streamEpoch, isAhead }: { hostId: string; streamEpoch: string; isAhead: boolean },
): Promise<string | undefined> {
  const locked =
    await sql`select from hosts h where h.id = ${hostId} and h.stream_epoch = ${streamEpoch}
    and (h.awaits_comparison or ${isAhead}) and h.fenced_at is null for no key update`;
  if (locked.length === 0) return undefined;
  const [row] = await sql<{ era: string }[]>`
    select case when h.awaits_comparison then i.era
      else greatest(i.era, floor(extract(epoch from clock_timestamp()))::bigint) end as era
    from hosts h, installation i where h.id = ${hostId} and ${isEraCurrent(sql)}`;
  return row?.era;
}

/** A host that says again and again that it is ahead must not fill the database. */
const MAX_DIFFERENCES_OF_HOST = 5_000;

/** Lists the disks that the database has on this host for no VM or a stopped one, except these. */
export async function listMissingDisks(
  sql: Queryable,
  { hostId, diskIds }: { hostId: string; diskIds: readonly string[] },
): Promise<{ id: string; vm_id: string | null }[]> {
  return await sql<{ id: string; vm_id: string | null }[]>`
    select d.id, (select a.vm_id from disk_attachments a where a.disk_id = d.id order by a.vm_id limit 1) as vm_id
    from disks d
    where d.host_id = ${hostId} and d.desired_state = 'present' and d.observed_size_gib is not null
      and not exists (select from disk_attachments a join vms v on v.id = a.vm_id
        where a.disk_id = d.id and (v.placed or v.desired_state = 'deleted' or v.abandoned))
      and d.id <> all(${[...diskIds]}::uuid[]) order by d.id`;
}

/** Records how the host differs. It gets specs from now on. */
export async function insertDifferences(
  sql: Queryable,
  {
    era,
    hostId,
    differences,
    diskIds,
  }: {
    era: string;
    hostId: string;
    differences: readonly FoundDifference[];
    /** Disks that the host has. Those that the database does not know are recorded, once a day. */
    diskIds: readonly string[];
  },
): Promise<void> {
  const unknown = await sql<{ id: string }[]>`
    select f.id from unnest(${[...diskIds]}::uuid[]) as f (id)
    where not exists (select from disks d where d.id = f.id)
      and not exists (select from era_differences e where e.host_id = ${hostId} and e.disk_id = f.id
        and e.era > ${era}::bigint - ${LISTED_SECONDS})`;
  const all: FoundDifference[] = [
    ...differences,
    ...unknown.map(({ id }) => ({ kind: 'disk_unknown' as const, diskId: id })),
  ];
  const [kept] = await sql<{ rows: number }[]>`
    select count(*)::int as rows from era_differences where host_id = ${hostId}`;
  const room = Math.max(0, MAX_DIFFERENCES_OF_HOST - (kept?.rows ?? 0));
  for (const { kind, vmId = null, diskId = null, networkId = null } of all.slice(0, room))
    await sql`insert into era_differences (id, era, host_id, kind, vm_id, disk_id, network_id, outcome)
      values (${newId()}, ${era}, ${hostId}, ${kind}, ${vmId}, ${diskId}, ${networkId},
        ${kind === 'absent' ? 'pending' : 'none'})`;
  await sql`update hosts set awaits_comparison = false where id = ${hostId}`;
}

/** Records what became of VMs that their host did not run. Returns those that were pending. */
export async function updateOutcomes(
  sql: Queryable,
  {
    hostId,
    vmIds,
    outcome,
  }: { hostId: string; vmIds: readonly string[]; outcome: DifferenceOutcome },
): Promise<string[]> {
  if (vmIds.length === 0) return [];
  const rows = await sql<{ vm_id: string }[]>`update era_differences set outcome = ${outcome}
    where host_id = ${hostId} and vm_id = any(${[...vmIds]}::uuid[]) and outcome = 'pending' returning vm_id`;
  return rows.map(({ vm_id }) => vm_id);
}
