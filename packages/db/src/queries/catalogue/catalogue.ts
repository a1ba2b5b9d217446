import type { Queryable } from '../../connect.ts';
import { type TypeAmounts, typeAmounts } from './type-amounts.ts';

export type LocationRow = { name: string; region: string; zone: string; description: string };

export async function listLocations(sql: Queryable): Promise<LocationRow[]> {
  return await sql<
    LocationRow[]
  >`select name, region, zone, description from locations order by name`;
}

export type VmTypeRow = TypeAmounts & {
  name: string;
  description: string;
  cpu_type: string;
  memory_type: string;
  disk_type: string;
  retired: boolean;
  locations: string[];
};

/** Lists types in catalogue order, retired ones only if requested. */
export async function listVmTypes(
  sql: Queryable,
  { retired }: { retired: boolean },
): Promise<VmTypeRow[]> {
  return await sql<VmTypeRow[]>`
    select t.name, t.description, t.cpu_type, t.memory_type, t.disk_type, t.retired,
      ${typeAmounts(sql)},
      array(select location from vm_type_locations where vm_type = t.name order by location) as locations
    from vm_types t where not t.retired or ${retired} order by t.position`;
}

export async function isTypeOffered(
  sql: Queryable,
  { type, location }: { type: string; location: string },
): Promise<{ known: boolean; there: boolean }> {
  const [row] = await sql<{ known: boolean; there: boolean }[]>`
    select exists (select from vm_types where name = ${type} and not retired) as known,
      exists (select from vm_type_locations where vm_type = ${type} and location = ${location}) as there`;
  return row ?? { known: false, there: false };
}

/** An image of the catalogue. */
export type ImageRow = {
  id: string;
  name: string;
  description: string;
  tags: string[];
  source_url: string;
  sha256: string;
  retired: boolean;
  created_at: Date;
  locations: string[];
};

const selectImage = (sql: Queryable, retired: boolean) => sql`
  select i.id, i.name, i.description, i.tags, i.source_url, i.sha256, i.retired, i.created_at,
    array(select location from image_locations where image_id = i.id order by location) as locations
  from images i where i.project_id is null and (not i.retired or ${retired})`;

export async function listImages(
  sql: Queryable,
  { retired }: { retired: boolean },
): Promise<ImageRow[]> {
  return await sql<ImageRow[]>`${selectImage(sql, retired)} order by i.name`;
}

export async function readImage(
  sql: Queryable,
  { id, retired }: { id: string; retired: boolean },
): Promise<ImageRow | undefined> {
  const [row] = await sql<ImageRow[]>`${selectImage(sql, retired)} and i.id = ${id}`;
  return row;
}

export type AvailabilityRow = {
  type: string;
  location: string;
  available: boolean;
  /** An upper bound of the VMs that fit now. */
  fitting: number;
  /** The filter of placement that left no host; empty if a VM fits or nothing is recorded yet. */
  lacking: string;
  /** Null if there is no price. */
  usd_per_hour: number | null;
};

/**
 * Lists each offered type and location, and whether placement would find a host now. A scheduler of an earlier version
 * records only whether it would.
 */
export async function listAvailabilities(
  sql: Queryable,
  filter: { type: string | null; location: string | null },
): Promise<AvailabilityRow[]> {
  return await sql<AvailabilityRow[]>`
    select t.name as type, o.location, coalesce(a.available, false) as available,
      case when a.available then greatest(1, a.fitting) else 0 end as fitting,
      case when a.available then '' else coalesce(a.lacking, '') end as lacking,
      (select usd_per_hour::float8 from prices where resource_type = t.name) as usd_per_hour
    from vm_types t join vm_type_locations o on o.vm_type = t.name
    left join availabilities a on a.vm_type = t.name and a.location = o.location
    where not t.retired
      and (${filter.type}::text is null or t.name = ${filter.type})
      and (${filter.location}::text is null or o.location = ${filter.location})
    order by t.position, o.location`;
}
