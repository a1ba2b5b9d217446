import type { Queryable } from '../../connect.ts';
import type { LocationRow, VmTypeRow } from './catalogue.ts';

/** Changes of locations and VM types by operators. */

export async function insertLocation(sql: Queryable, location: LocationRow): Promise<void> {
  await sql`insert into locations (name, region, zone, description)
    values (${location.name}, ${location.region}, ${location.zone}, ${location.description})`;
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

/**
 * Locks the default networks that can get another subnet. New projects and subnets wait until the
 * transaction ends, so that each project is either in this list or sees the added location. Locks the
 * spec numbers of their hosts too, in the order of ids, because each subnet changes some of them.
 */
export async function lockDefaultNetworks(
  sql: Queryable,
): Promise<{ id: string; project_id: string }[]> {
  await sql`lock table networks in share mode`;
  const networks = await sql<{ id: string; project_id: string }[]>`
    select n.id, n.project_id from networks n
    join quotas q on q.project_id = n.project_id and q.type = 'subnets' and q.used < q.max
    where n.is_default order by n.id for no key update of n`;
  await sql`select from host_revisions where host_id in (select p.host_id from placements p
      join network_interfaces i on i.vm_id = p.vm_id join networks n on n.id = i.network_id where n.is_default)
    order by host_id for update`;
  return networks;
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
