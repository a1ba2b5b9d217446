import type { Queryable } from '../../connect.ts';
import { type IdListing, idOrder, listedByIds } from '../listing.ts';
import type { OrganizationRow } from './tenants.ts';

export async function listOrganizations(sql: Queryable, ids: string[]): Promise<OrganizationRow[]> {
  return await sql<OrganizationRow[]>`
    select id, name, payment_customer_id from organizations where id = any(${ids}::uuid[]) order by id`;
}

export type PaidOrganizationRow = OrganizationRow & {
  paid: boolean;
  standing: 'good' | 'payment_problem' | 'suspended';
};

/** Lists all organizations, for operators. */
export async function listAllOrganizations(
  sql: Queryable,
  listing: IdListing,
): Promise<PaidOrganizationRow[]> {
  return await sql<PaidOrganizationRow[]>`
    select o.id, o.name, o.payment_customer_id, m.organization_id is not null as paid,
      case when exists (select from suspensions s where s.organization_id = o.id) then 'suspended'
        when exists (select from payment_problems p where p.organization_id = o.id) then 'payment_problem'
        else 'good' end as standing
    from organizations o left join payment_methods m on m.organization_id = o.id
    where ${listedByIds(sql, listing, sql`o.`)} ${idOrder(sql, listing, sql`o.`)}`;
}

/** Serialises changes that depend on the organization's members and projects. */
export async function lockOrganization(sql: Queryable, organizationId: string): Promise<void> {
  await sql`select from organizations where id = ${organizationId} for no key update`;
}

export async function hasProjects(sql: Queryable, organizationId: string): Promise<boolean> {
  const rows = await sql`select from projects where organization_id = ${organizationId} limit 1`;
  return rows.length > 0;
}

export async function updateOrganizationName(
  sql: Queryable,
  { organizationId, name }: { organizationId: string; name: string },
): Promise<OrganizationRow | undefined> {
  const [row] = await sql<OrganizationRow[]>`
    update organizations set name = ${name} where id = ${organizationId}
    returning id, name, payment_customer_id`;
  return row;
}

/** Removes its members and payment method too. Fails if it has a project. */
export async function removeOrganization(
  sql: Queryable,
  organizationId: string,
): Promise<OrganizationRow | undefined> {
  const [row] = await sql<OrganizationRow[]>`
    delete from organizations where id = ${organizationId} returning id, name, payment_customer_id`;
  return row;
}
