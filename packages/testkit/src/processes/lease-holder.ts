import type postgres from 'postgres';
import { vi } from 'vitest';

const SETTLED_LIMIT_MS = 30_000;

type Wanted<One> = {
  sql: postgres.Sql;
  location: string;
  schedulers: readonly One[];
};

/**
 * Returns the scheduler that places VMs in the location, as soon as no scheduler will hand a lease over to
 * another: each location has a lease, none is wanted, and no scheduler has two more than another.
 */
export async function findLeaseHolder<One extends { id: string }>({
  sql,
  location,
  schedulers,
}: Wanted<One>): Promise<One> {
  const readHolder = async () => {
    const [found] = await sql<{ holder: string | null; unsettled: number }[]>`
      with held as (select s.id, count(l.location) as leases from schedulers s
          left join leases l on l.holder = s.id and l.expires_at > clock_timestamp() group by s.id)
      select (select count(*) from locations)::int - (select sum(leases) from held)::int
        + (select count(*) from leases where wanted_by is not null)::int
        + (select case when max(leases) - min(leases) >= 2 then 1 else 0 end from held) as unsettled,
        (select holder from leases where location = ${location})`;
    const holder = schedulers.find(({ id }) => id === found?.holder);
    if (!holder || found?.unsettled !== 0) throw new Error('leases still change hands');
    return holder;
  };
  return await vi.waitFor(readHolder, { timeout: SETTLED_LIMIT_MS, interval: 50 });
}
