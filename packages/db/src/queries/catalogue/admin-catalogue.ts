import type { Queryable } from '../../connect.ts';
import type { LocationRow, VmTypeRow } from './catalogue.ts';
import { LOCATIONS_LOCK } from './default-subnets.ts';

/** Changes of locations and VM types by operators. */

/**
 * Call `addDefaultSubnets` afterwards. Waits for transactions that create projects, and they wait for this
 * one: a project either sees the location or has a default network that gets a subnet.
 */
export async function insertLocation(sql: Queryable, location: LocationRow): Promise<void> {
  await sql`select pg_advisory_xact_lock(${LOCATIONS_LOCK})`;
  await sql`insert into locations (name, region, zone, description, has_subnets)
    values (${location.name}, ${location.region}, ${location.zone}, ${location.description}, false)`;
}

export async function updateLocation(
  sql: Queryable,
  { name, description }: { name: string; description: string },
): Promise<LocationRow | undefined> {
  const [row] = await sql<LocationRow[]>`
    update locations set description = ${description} where name = ${name}
    returning name, region, zone, description`;
  return row;
}

export async function findUnknownLocations(
  sql: Queryable,
  locations: string[],
): Promise<{ name: string }[]> {
  return await sql<{ name: string }[]>`
    select name from unnest(${locations}::text[]) as wanted (name)
    where not exists (select from locations l where l.name = wanted.name)`;
}

export type NewVmType = Omit<VmTypeRow, 'retired' | 'locations'>;

export async function insertVmType(sql: Queryable, type: NewVmType): Promise<void> {
  await sql`insert into vm_types ${sql(type)}`;
}

/** Null leaves a column unchanged. Returns whether there is such a type. */
export async function updateVmType(
  sql: Queryable,
  change: { name: string; description: string | null } & Record<
    'retired' | 'may_split',
    boolean | null
  >,
): Promise<boolean> {
  const { count } = await sql`
    update vm_types set description = coalesce(${change.description}::text, description),
      retired = coalesce(${change.retired}::boolean, retired),
      may_split = coalesce(${change.may_split}::boolean, may_split)
    where name = ${change.name}`;
  return count > 0;
}

/** From now on the type is offered in these locations and no others; VMs elsewhere keep it. */
export async function replaceVmTypeLocations(
  sql: Queryable,
  { name, locations }: { name: string; locations: string[] },
): Promise<void> {
  await sql`delete from vm_type_locations
    where vm_type = ${name} and location <> all(${locations}::text[])`;
  await sql`insert into vm_type_locations (vm_type, location)
    select ${name}, location from unnest(${locations}::text[]) as wanted (location)
    on conflict do nothing`;
}
