import type { Queryable } from '../../connect.ts';

export type PriceRow = { resource_type: string; usd_per_hour: number };

export async function listPrices(sql: Queryable): Promise<PriceRow[]> {
  return await sql<PriceRow[]>`
    select resource_type, usd_per_hour::float8 as usd_per_hour from prices order by resource_type`;
}

export async function isVmType(sql: Queryable, name: string): Promise<boolean> {
  const rows = await sql`select from vm_types where name = ${name}`;
  return rows.length > 0;
}

/** The amount is decimal text, so that it is stored exactly. */
export async function replacePrice(
  sql: Queryable,
  { resourceType, usdPerHour }: { resourceType: string; usdPerHour: string },
): Promise<void> {
  await sql`insert into prices (resource_type, usd_per_hour) values (${resourceType}, ${usdPerHour}::numeric)
    on conflict (resource_type) do update set usd_per_hour = excluded.usd_per_hour`;
}

export async function removePrice(
  sql: Queryable,
  resourceType: string,
): Promise<PriceRow | undefined> {
  const [row] = await sql<PriceRow[]>`
    delete from prices where resource_type = ${resourceType}
    returning resource_type, usd_per_hour::float8 as usd_per_hour`;
  return row;
}
