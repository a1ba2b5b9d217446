import type { Queryable } from '../../connect.ts';

/**
 * Which scheduler places in which location. All times come from the database's clock. Rows are
 * never removed, so that epochs only increase.
 */
export type Lease = { location: string; holder: string; epoch: number };

type LeaseRow = { location: string; epoch: string };

/**
 * A scheduler without a heartbeat for this long may hang, and its hosts take no VMs. It is longer than a
 * healthy scheduler ever takes between two heartbeats, and shorter than hosts take to leave it.
 */
export const SILENT_MS = 2_500;

/**
 * Acquires every lease that is free, including those of new locations. Skips a lease whose row a
 * transaction of its last holder still locks. A holder whose lease has expired may hang although its
 * last heartbeat is recent, so it counts as silent until its next one. Returns all leases of the holder,
 * also those that others have handed over to it.
 */
export async function acquireLeases(
  sql: Queryable,
  { holder, ttlMs }: { holder: string; ttlMs: number },
): Promise<Lease[]> {
  const rows = await sql<LeaseRow[]>`
    with created as (insert into leases (location, holder, epoch, expires_at)
        select name, ${holder}, 1, clock_timestamp() + ${ttlMs}::float8 * interval '1 millisecond' from locations l
        where not exists (select from leases where location = l.name)
        on conflict (location) do nothing returning location, epoch),
      expired as (select location, holder from leases where expires_at <= clock_timestamp() for update skip locked),
      taken as (update leases l set holder = ${holder}, epoch = l.epoch + 1, wanted_by = null,
          expires_at = clock_timestamp() + ${ttlMs}::float8 * interval '1 millisecond'
        from expired e where l.location = e.location and l.expires_at <= clock_timestamp()
        returning l.location, l.epoch),
      suspected as (update schedulers set
          last_seen_at = least(last_seen_at, clock_timestamp() - ${SILENT_MS}::float8 * interval '1 millisecond')
        where id in (select holder from expired where holder <> ${holder}))
    select location, epoch from created union all select location, epoch from taken
    union all select location, epoch from leases where holder = ${holder} and expires_at > clock_timestamp()`;
  return rows.map(({ location, epoch }) => ({ location, holder, epoch: Number(epoch) }));
}

/** A lease that is still held, and whether another scheduler wants it. */
export type RenewedLease = { lease: Lease; isWanted: boolean };

/** Returns the leases that are still held. An expired lease is lost even if it is free. */
export async function renewLeases(
  sql: Queryable,
  { leases, ttlMs }: { leases: readonly Lease[]; ttlMs: number },
): Promise<RenewedLease[]> {
  const rows = await sql<{ location: string; is_wanted: boolean }[]>`
    update leases l set expires_at = clock_timestamp() + ${ttlMs}::float8 * interval '1 millisecond'
    from ${heldRows(sql, leases)}
    where l.location = held.location and l.holder = held.holder::uuid and l.epoch = held.epoch::bigint
      and l.expires_at > clock_timestamp()
    returning l.location, l.wanted_by is not null as is_wanted`;
  const wanted = new Map(rows.map(({ location, is_wanted }) => [location, is_wanted]));
  return leases.flatMap((lease) => {
    const isWanted = wanted.get(lease.location);
    return isWanted === undefined ? [] : [{ lease, isWanted }];
  });
}

/**
 * Notes that the holder wants a lease of the scheduler that has the most, if that one has at least two more.
 * It wants one at a time. Leases of schedulers that do not hand them over, such as earlier versions, stay where
 * they are.
 */
export async function wantLease(sql: Queryable, holder: string): Promise<void> {
  await sql`
    with held as (select holder, count(*) as leases from leases where expires_at > clock_timestamp() group by holder)
    update leases set wanted_by = ${holder} where not exists (select from leases where wanted_by = ${holder})
      and location = (select l.location from leases l join held on held.holder = l.holder
        where l.wanted_by is null and l.holder <> ${holder} and l.expires_at > clock_timestamp()
          and held.leases >= 2 + coalesce((select leases from held where holder = ${holder}), 0)
        order by held.leases desc, l.location limit 1 for update of l skip locked)`;
}

/**
 * Hands a lease over to the scheduler that wants it, or back to its holder if that one is silent. It waits for
 * the transactions of the holder that write in the location.
 */
export async function handOverLease(
  sql: Queryable,
  { lease, ttlMs }: { lease: Lease; ttlMs: number },
): Promise<void> {
  await sql`
    update leases l set epoch = l.epoch + 1, wanted_by = null,
      holder = coalesce((select s.id from schedulers s where s.id = l.wanted_by
        and s.last_seen_at > clock_timestamp() - ${SILENT_MS}::float8 * interval '1 millisecond'), l.holder),
      expires_at = clock_timestamp() + ${ttlMs}::float8 * interval '1 millisecond'
    where location = ${lease.location} and holder = ${lease.holder} and epoch = ${lease.epoch}
      and expires_at > clock_timestamp()`;
}

/** Releases the leases, so that other schedulers can acquire them at once. */
export async function releaseLeases(sql: Queryable, leases: readonly Lease[]): Promise<void> {
  await sql`update leases l set expires_at = clock_timestamp() from ${heldRows(sql, leases)}
    where l.location = held.location and l.holder = held.holder::uuid and l.epoch = held.epoch::bigint`;
}

function heldRows(sql: Queryable, leases: readonly Lease[]) {
  return sql`unnest(${leases.map(({ location }) => location)}::text[], ${leases.map(({ holder }) => holder)}::text[],
    ${leases.map(({ epoch }) => String(epoch))}::text[]) as held (location, holder, epoch)`;
}

/** Returns whether the lease is held now, and locks it: see the function `lock_lease`. */
export async function lockLease(sql: Queryable, lease: Lease): Promise<boolean> {
  const [row] = await sql<{ held: boolean }[]>`
    select lock_lease(${lease.location}, ${lease.holder}, ${lease.epoch}) as held`;
  return row?.held ?? false;
}
