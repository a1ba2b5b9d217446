import type { Queryable } from '../../connect.ts';

/**
 * Which schedulers and hosts are alive. A scheduler renews one row of its own for all hosts whose
 * streams it has, so that the heartbeats of hosts cost the database nothing. A host's row changes
 * when a stream begins or ends.
 */

/** Returns true if the scheduler is new, or was removed because it was silent. */
export async function recordHeartbeat(
  sql: Queryable,
  { schedulerId, address }: { schedulerId: string; address: string },
): Promise<boolean> {
  const [row] = await sql<{ is_new: boolean }[]>`
    insert into schedulers (id, address) values (${schedulerId}, ${address})
    on conflict (id) do update set last_seen_at = now(), address = excluded.address
    returning xmax = 0 as is_new`;
  return row?.is_new ?? true;
}

type OpeningStream = {
  hostId: string;
  schedulerId: string;
  /** The serial number of the certificate with which the host attached. */
  certificate?: string;
};

/**
 * Returns the stream's epoch, or undefined if there is no such host or it is fenced. Notes the
 * authority of the certificate: the host holds it, and did not only request it.
 */
export async function openStream(
  sql: Queryable,
  { hostId, schedulerId, certificate = '' }: OpeningStream,
): Promise<string | undefined> {
  const [row] = await sql<{ stream_epoch: string }[]>`
    update hosts set scheduler_id = ${schedulerId}, stream_epoch = stream_epoch + 1, impairment = '',
      certificate_authority = coalesce(
        (select authority from host_certificates where serial = ${certificate} and host_id = ${hostId}),
        certificate_authority)
    where id = ${hostId} and fenced_at is null returning stream_epoch`;
  return row?.stream_epoch;
}

/**
 * Uses one statement for all, and locks them in the order of ids. A host that has opened another stream
 * since does not change.
 */
export async function closeStreams(
  sql: Queryable,
  streams: { hostId: string; streamEpoch: string }[],
): Promise<void> {
  await sql`update hosts set scheduler_id = null, last_seen_at = now() where id in (
    select h.id from hosts h join unnest(${streams.map(({ hostId }) => hostId)}::uuid[],
      ${streams.map(({ streamEpoch }) => streamEpoch)}::text[]) as ended(host_id, stream_epoch)
      on h.id = ended.host_id and h.stream_epoch = ended.stream_epoch::bigint
    order by h.id for no key update of h)`;
}

/** Returns those of the hosts that exist and are not fenced. */
export async function listKnownHosts(sql: Queryable, hostIds: string[]): Promise<Set<string>> {
  const rows = await sql<
    { id: string }[]
  >`select id from hosts where id = any(${hostIds}::uuid[]) and fenced_at is null`;
  return new Set(rows.map(({ id }) => id));
}

/** Removes the scheduler and ends all its streams. Locks the hosts in the order of ids. */
export async function removeScheduler(sql: Queryable, schedulerId: string): Promise<void> {
  await sql`with gone as (delete from schedulers where id = ${schedulerId})
    update hosts set scheduler_id = null, last_seen_at = now() where id in (
      select id from hosts where scheduler_id = ${schedulerId} order by id for no key update)`;
}

/** Removes silent schedulers. Their hosts were last seen when the scheduler was. */
export async function removeDeadSchedulers(
  sql: Queryable,
  deadAfterMs: number,
): Promise<{ id: string }[]> {
  return await sql<{ id: string }[]>`
    with dead as (delete from schedulers
        where last_seen_at < now() - ${deadAfterMs} * interval '1 millisecond' returning id, last_seen_at),
      lost as (select h.id, d.last_seen_at from hosts h join dead d on d.id = h.scheduler_id
        order by h.id for no key update of h),
      detached as (update hosts h set scheduler_id = null, last_seen_at = l.last_seen_at
        from lost l where h.id = l.id)
    select id from dead`;
}

/** Lists hosts that have had no stream for this long. */
export async function listSilentHosts(sql: Queryable, silentMs: number): Promise<{ id: string }[]> {
  return await sql<{ id: string }[]>`
    select id from hosts where scheduler_id is null and state = 'ready'
      and coalesce(last_seen_at, created_at) < now() - ${silentMs} * interval '1 millisecond'
    order by id limit 200`;
}

/** Returns when the host was last seen, or undefined if it has a stream again. */
export async function updateHostUnreachable(
  sql: Queryable,
  { hostId, silentMs }: { hostId: string; silentMs: number },
): Promise<Date | undefined> {
  const [row] = await sql<{ seen_at: Date }[]>`update hosts set state = 'unreachable'
    where id = ${hostId} and scheduler_id is null and state = 'ready'
      and coalesce(last_seen_at, created_at) < now() - ${silentMs} * interval '1 millisecond'
    returning coalesce(last_seen_at, created_at) as seen_at`;
  return row?.seen_at;
}

export async function updateHostReady(sql: Queryable, hostId: string): Promise<void> {
  await sql`update hosts set state = 'ready' where id = ${hostId} and state = 'unreachable'`;
}

export async function updateVmsReachable(
  sql: Queryable,
  { vmIds, reachable }: { vmIds: string[]; reachable: boolean },
): Promise<void> {
  await sql`update vms set reachable = ${reachable}, updated_at = now() where id = any(${vmIds}::uuid[])`;
}

/**
 * Locks the disks of the host and of its VMs, and the host, before anything that releasing its VMs locks.
 * Returns false if it is fenced already.
 */
export async function lockHostToFence(sql: Queryable, hostId: string): Promise<boolean> {
  await sql`select from disks where id = any(array(select id from disks where host_id = ${hostId})
      || array(select a.disk_id from disk_attachments a join placements p on p.vm_id = a.vm_id
        where p.host_id = ${hostId}))
    order by id for update`;
  const { count } = await sql`select from hosts
    where id = ${hostId} and fenced_at is not null and state <> 'fenced' for no key update`;
  return count > 0;
}

/** Returns the host that takes over the disks of a fenced host on shared storage, or null if none can. */
export async function readHeir(sql: Queryable, hostId: string): Promise<string | null> {
  const [heir] = await sql<
    { id: string }[]
  >`select h.id from hosts dead join hosts h on h.location = dead.location
    where dead.id = ${hostId} and dead.shared_storage and h.shared_storage and h.fenced_at is null
    order by h.state = 'ready' desc, h.id limit 1`;
  return heir?.id ?? null;
}

/**
 * Marks the host as fenced for good. It does not have to confirm firewall rules any more. The heir
 * gets its disks on shared storage, and any host can create those that it has not created. The caller
 * has locked the spec numbers of both.
 */
export async function updateHostFenced(
  sql: Queryable,
  { hostId, heirId }: { hostId: string; heirId: string | null },
): Promise<void> {
  await sql`update hosts set state = 'fenced', scheduler_id = null where id = ${hostId}`;
  await sql`update disks set home_id = null where home_id = ${hostId} and host_id is null`;
  if (heirId) await sql`update disks set host_id = ${heirId} where host_id = ${hostId}`;
  // After the spec numbers that the disks lock, as when a rule changes.
  await sql`delete from firewall_rule_hosts where host_id = ${hostId}`;
}
