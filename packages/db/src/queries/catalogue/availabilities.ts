import type { Queryable } from '../../connect.ts';
import { type TypeAmounts, typeAmounts } from './type-amounts.ts';

export type OfferedType = TypeAmounts & { name: string };

type OfferRow = { location: string; types: OfferedType[] };

/** Reads the types that each location offers. */
export async function readOffers(
  sql: Queryable,
  locations: readonly string[],
): Promise<OfferRow[]> {
  return await sql<OfferRow[]>`
    select l.name as location, coalesce((select jsonb_agg(to_jsonb(o)) from (select t.name, ${typeAmounts(sql)}
        from vm_types t join vm_type_locations o on o.vm_type = t.name
        where o.location = l.name and not t.retired order by t.position) o), '[]') as types
    from unnest(${[...locations]}::text[]) as l (name)`;
}

/** Writes only rows that differ. Skips types that were removed meanwhile. */
export async function recordAvailabilities(
  sql: Queryable,
  { location, available }: { location: string; available: ReadonlyMap<string, boolean> },
): Promise<void> {
  await sql`
    insert into availabilities (location, vm_type, available)
    select ${location}, t.name, a.available::boolean
    from unnest(${[...available.keys()]}::text[], ${[...available.values()].map(String)}::text[]) as a (vm_type, available)
    join vm_types t on t.name = a.vm_type
    on conflict (location, vm_type) do update set available = excluded.available
      where availabilities.available <> excluded.available`;
}
