import { OS_DISK_GIB } from '@gantry/model/disk-size';
import type { Queryable } from '../../connect.ts';
import { type TypeAmounts, typeAmounts } from './type-amounts.ts';

/** `in_pool`: a storage cluster stores the OS disks of new VMs. Absent: their hosts do. */
export type OfferedType = TypeAmounts & { name: string; in_pool?: boolean };

/** Returns what the OS disk of a new VM needs of its host: room, or access to the storage cluster that stores it. */
export function osDiskOf({ in_pool = false }: Pick<OfferedType, 'in_pool'>) {
  return in_pool ? { hasVolumes: true } : { newDisksGib: OS_DISK_GIB };
}

type OfferRow = { location: string; types: OfferedType[] };

/** Reads the types that each location offers. */
export async function readOffers(
  sql: Queryable,
  locations: readonly string[],
): Promise<OfferRow[]> {
  return await sql<OfferRow[]>`
    select l.name as location, coalesce((select jsonb_agg(to_jsonb(o)) from (select t.name, ${typeAmounts(sql)},
          exists (select from storage_pools s where s.location = l.name and s.disk_type = 'persistent-ssd') as in_pool
        from vm_types t join vm_type_locations o on o.vm_type = t.name
        where o.location = l.name and not t.retired order by t.position) o), '[]') as types
    from unnest(${[...locations]}::text[]) as l (name)`;
}

/** How many VMs of a type fit now; if none does, the filter of placement that left no host. */
export type Fitting = { fitting: number; lacking: string };

/** Writes only rows that differ. Skips types that were removed meanwhile. */
export async function recordAvailabilities(
  sql: Queryable,
  { location, types }: { location: string; types: ReadonlyMap<string, Fitting> },
): Promise<void> {
  const counts = [...types.values()].map(({ fitting }) => String(fitting));
  const lacking = [...types.values()].map((type) => type.lacking);
  await sql`
    insert into availabilities (location, vm_type, available, fitting, lacking)
    select ${location}, t.name, a.fitting::int > 0, a.fitting::int, a.lacking
    from unnest(${[...types.keys()]}::text[], ${counts}::text[], ${lacking}::text[]) as a (vm_type, fitting, lacking)
    join vm_types t on t.name = a.vm_type
    on conflict (location, vm_type) do update
      set available = excluded.available, fitting = excluded.fitting, lacking = excluded.lacking
      where (availabilities.available, availabilities.fitting, availabilities.lacking)
        <> (excluded.available, excluded.fitting, excluded.lacking)`;
}
