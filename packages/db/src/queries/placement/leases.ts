import type { Queryable } from '../../connect.ts';

/**
 * Which scheduler places in which location. All times come from the database's clock. Rows are
 * never removed, so that epochs only increase.
 */
export type Lease = { location: string; holder: string; epoch: number };

type LeaseRow = { location: string; epoch: string };

/**
 * Acquires every lease that is free, including those of new locations. Skips a lease whose row a
 * transaction of its last holder still locks.
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
      expired as (select location from leases where expires_at <= clock_timestamp() for update skip locked),
      taken as (update leases l set holder = ${holder}, epoch = l.epoch + 1,
          expires_at = clock_timestamp() + ${ttlMs}::float8 * interval '1 millisecond'
        from expired e where l.location = e.location and l.expires_at <= clock_timestamp()
        returning l.location, l.epoch)
    select location, epoch from created union all select location, epoch from taken`;
  return rows.map(({ location, epoch }) => ({ location, holder, epoch: Number(epoch) }));
}

/** Returns the leases that are still held. An expired lease is lost even if it is free. */
export async function renewLeases(
  sql: Queryable,
  { leases, ttlMs }: { leases: readonly Lease[]; ttlMs: number },
): Promise<Lease[]> {
  const rows = await sql<{ location: string }[]>`
    update leases l set expires_at = clock_timestamp() + ${ttlMs}::float8 * interval '1 millisecond'
    from ${heldRows(sql, leases)}
    where l.location = held.location and l.holder = held.holder::uuid and l.epoch = held.epoch::bigint
      and l.expires_at > clock_timestamp()
    returning l.location`;
  const renewed = new Set(rows.map(({ location }) => location));
  return leases.filter(({ location }) => renewed.has(location));
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

/**
 * How long a holder may keep its lease's row locked while it is idle, or wait for a lock. It is
 * much shorter than the lease, so that a process that stops in a transaction does not block others.
 */
const PATIENCE_MS = 1_000;

/**
 * Returns whether the lease is held now, and locks it until the transaction ends. It is the first
 * statement of every transaction in which a holder writes.
 */
export async function lockLease(sql: Queryable, lease: Lease): Promise<boolean> {
  const rows = await sql`
    select set_config('idle_in_transaction_session_timeout', ${String(PATIENCE_MS)}, true),
      set_config('lock_timeout', ${String(PATIENCE_MS)}, true)
    from leases where location = ${lease.location} and holder = ${lease.holder} and epoch = ${lease.epoch}
      and expires_at > clock_timestamp() for share`;
  return rows.length === 1;
}
