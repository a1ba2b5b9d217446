import type { Queryable, Sql } from '../../connect.ts';
import { transact } from '../../transact.ts';

/** The era of the installation: see the functions count_floor and current_history. */

/** Called with every migration. The first era belongs to the history in which it was created. */
export async function insertInstallation(sql: Queryable): Promise<void> {
  await sql`insert into installation (era, history) values (0, current_history()) on conflict (id) do nothing`;
}

/** True if the database has lost no commits that the era's hosts may know of. */
export const isEraCurrent = (sql: Queryable) =>
  sql`exists (select from installation where history = current_history())`;

/**
 * Returns the era. If the database has another history than the era, commits may be lost: then a new
 * era begins first.
 */
export async function ensureEra(sql: Sql): Promise<{ era: string; hasBegun: boolean }> {
  const [row] = await sql<{ era: string; is_current: boolean }[]>`
    select era, history = current_history() as is_current from installation`;
  if (row?.is_current) return { era: row.era, hasBegun: false };
  return await beginEra(sql, { evenIfCurrent: false });
}

const KEPT_SECONDS = 30 * 86_400;

/**
 * Begins a new era. Every host gets a new spec number, which is above all numbers of earlier eras, and
 * rules that hosts have not confirmed wait for this spec: what a host confirmed in an earlier era proves
 * nothing. No VM is placed on a host before it has reported what it has, because orphans may have its
 * devices. No host gets a spec before what it has was compared with the database. New networks get no VXLAN
 * number that a lost one may have. The counters of VMs stay, because a new generation would reset running VMs.
 */
export async function beginEra(
  sql: Sql,
  { evenIfCurrent }: { evenIfCurrent: boolean },
): Promise<{ era: string; hasBegun: boolean }> {
  await removeFutureStreamEvents(sql);
  return await transact(sql, async (tx) => {
    const [row] = await tx<{ era: string; is_current: boolean }[]>`
      select era, history = current_history() as is_current from installation for update`;
    if (row?.is_current && !evenIfCurrent) return { era: row.era, hasBegun: false };
    const [begun] = await tx<{ era: string }[]>`
      update installation set history = current_history(),
        era = greatest(era + 1, floor(extract(epoch from clock_timestamp()))::bigint),
        stream_since = least(stream_since, pg_snapshot_xmin(pg_current_snapshot())) returning era`;
    await tx`update hosts set awaits_era = true, awaits_comparison = stream_epoch > 0 where id in (select id from hosts where fenced_at is null
      order by id for no key update)`;
    await tx`select bump_hosts(array(select host_id from host_revisions order by host_id))`;
    await tx`update firewall_rule_hosts o set number = r.number from host_revisions r where r.host_id = o.host_id`;
    await setAsideVnis(tx, evenIfCurrent ? VNIS_SINCE_BACKUP : VNIS_OF_FAILOVER);
    // The restore command lists those of the last day.
    await tx`delete from era_differences where era < extract(epoch from now()) - ${KEPT_SECONDS}`;
    await tx`delete from stray_hosts where last_seen_at < now() - ${KEPT_SECONDS} * interval '1 second'`;
    return { era: begun?.era ?? '0', hasBegun: true };
  });
}

/**
 * A dump that was loaded into a new cluster has stream events of transactions that this cluster has not
 * reached yet. They would be sent again when it does. In every other case there are none.
 */
async function removeFutureStreamEvents(sql: Sql): Promise<void> {
  const future =
    await sql`select from stream_events where xid >= pg_snapshot_xmax(pg_current_snapshot()) limit 1`;
  if (future.length > 0) await sql`truncate stream_events`;
}

/** More networks than are created in a few seconds, and between two backups. */
const VNIS_OF_FAILOVER = 4_096;
const VNIS_SINCE_BACKUP = 65_536;

/**
 * Networks of lost commits have VXLAN numbers that the database takes for unused, and hosts with orphans still
 * carry their packets. The next numbers therefore count as freed now: they come after all others.
 */
async function setAsideVnis(sql: Queryable, count: number): Promise<void> {
  await sql`update free_vnis set freed_at = now() where freed_at is null`;
  await sql`
    with pool as (select next, least(next + ${count}, last + 1) as rest from vni_pool for update),
      skipped as (insert into free_vnis (vni, freed_at)
        select n, now() from pool, generate_series(pool.next, pool.rest - 1) p,
          lateral (select (p - 1) % 16777215 + 1 as n) as number
        where not exists (select from networks w where w.vni = n) on conflict (vni) do nothing)
    update vni_pool set next = pool.rest from pool`;
}

/**
 * Raises the counters of a host that is ahead of the database: it has accepted a spec that this
 * database has not issued, because it was restored without a new era. The next spec of the host and all
 * its entries are newer than what the host has. Returns false if the stream is stale.
 */
export async function raiseHost(
  sql: Sql,
  host: {
    hostId: string;
    streamEpoch: string;
    number: string;
    revisions: { vmId: string; revision: string }[];
  },
): Promise<boolean> {
  const { hostId, streamEpoch, number, revisions } = host;
  return await transact(sql, async (tx) => {
    await tx`select from vms v join placements p on p.vm_id = v.id where p.host_id = ${hostId}
      order by v.id for update of v`;
    const current =
      await tx`select from hosts where id = ${hostId} and stream_epoch = ${streamEpoch}
      and fenced_at is null for no key update`;
    if (current.length === 0) return false;
    await tx`update vms v set revision = greatest(v.revision, r.revision::bigint) + 1
      from placements p left join unnest(${revisions.map(({ vmId }) => vmId)}::text[],
        ${revisions.map(({ revision }) => revision)}::text[]) as r (vm_id, revision) on r.vm_id = p.vm_id::text
      where v.id = p.vm_id and p.host_id = ${hostId}`;
    await tx`update host_revisions set number = greatest(number, ${number}::bigint) + 1,
        own_number = greatest(number, ${number}::bigint) + 1, changed_xid = pg_current_xact_id()
      where host_id = ${hostId}`;
    await tx`update firewall_rule_hosts o set number = r.number from host_revisions r
      where r.host_id = o.host_id and o.host_id = ${hostId}`;
    return true;
  });
}
