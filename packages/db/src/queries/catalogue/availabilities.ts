import type { Queryable } from '../../connect.ts';
import { type TypeAmounts, typeAmounts } from './type-amounts.ts';

export type OfferedType = TypeAmounts & { name: string };

/** Lists the types that a location offers. */
export async function listOfferedTypes(sql: Queryable, location: string): Promise<OfferedType[]> {
  return await sql<OfferedType[]>`
    select t.name, ${typeAmounts(sql)}
    from vm_types t join vm_type_locations o on o.vm_type = t.name
    where o.location = ${location} and not t.retired order by t.position`;
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
