import { DEFAULT_NETWORK, DEFAULT_RULES } from '@gantry/model/default-network';
import { newId } from '@gantry/model/ids';
import { DEFAULT_ORGANIZATION_QUOTAS, DEFAULT_QUOTAS } from '@gantry/model/states';
import type { Queryable } from '../../connect.ts';
import { insertSubnetsOfNetwork } from '../catalogue/default-subnets.ts';

export type OrganizationRow = { id: string; name: string; payment_customer_id: string };
export type ProjectRow = { id: string; name: string; version: string; organization_id: string };

/** Inserts an organization with its quotas. */
export async function insertOrganization(
  sql: Queryable,
  organization: OrganizationRow,
): Promise<void> {
  await sql`insert into organizations (id, name, payment_customer_id)
    values (${organization.id}, ${organization.name}, ${organization.payment_customer_id})`;
  await sql`insert into organization_quotas ${sql(
    Object.entries(DEFAULT_ORGANIZATION_QUOTAS).map(([type, max]) => ({
      ...{ organization_id: organization.id, type, max },
    })),
  )}`;
}

/** Inserts a project with its quotas, default network, subnets and firewall rules. */
export async function insertProject(
  sql: Queryable,
  project: Omit<ProjectRow, 'version'>,
): Promise<void> {
  await sql`insert into projects (id, name, organization_id)
    values (${project.id}, ${project.name}, ${project.organization_id})`;
  await sql`insert into quotas ${sql(
    Object.entries(DEFAULT_QUOTAS).map(([type, max]) => ({ project_id: project.id, type, max })),
  )}`;
  const networkId = newId();
  await sql`insert into networks (id, project_id, name, cidr, is_default)
    values (${networkId}, ${project.id}, ${DEFAULT_NETWORK.name}, ${DEFAULT_NETWORK.cidr}, true)`;
  await insertSubnetsOfNetwork(sql, { id: networkId, project_id: project.id });
  await insertDefaultRules(sql, { projectId: project.id, networkId });
}

async function insertDefaultRules(
  sql: Queryable,
  { projectId, networkId }: { projectId: string; networkId: string },
) {
  const network = [{ resource_id: networkId, cidr: '' }];
  const anywhere = [{ resource_id: '', cidr: '' }];
  for (const rule of DEFAULT_RULES) {
    const other = rule.from === 'network' ? network : anywhere;
    const [sources, destinations] =
      rule.direction === 'ingress' ? [other, network] : [network, other];
    // The rules are in force at once, because no host has a VM of this network yet.
    await sql`insert into firewall_rules
      (id, project_id, network_id, name, direction, action, protocols, sources, source_ports, destinations, destination_ports, applied_generation)
      values (${newId()}, ${projectId}, ${networkId}, ${rule.name}, ${rule.direction}, 'allow', ${rule.protocols},
        ${sql.json(sources)}, ${[]}, ${sql.json(destinations)}, ${rule.destinationPorts}, 1)`;
  }
}

export async function findProject(
  sql: Queryable,
  { organization, project }: { organization: string; project: string },
): Promise<{ id: string } | undefined> {
  const [row] = await sql<{ id: string }[]>`
    select p.id from projects p join organizations o on o.id = p.organization_id
    where o.name = ${organization} and p.name = ${project} order by p.id limit 1`;
  return row;
}

export async function insertOwner(
  sql: Queryable,
  owner: { id: string; organizationId: string; userId: string },
): Promise<void> {
  await sql`insert into members (id, user_id, organization_id, role)
    values (${owner.id}, ${owner.userId}, ${owner.organizationId}, 'owner')`;
}

export async function insertPaymentMethod(
  sql: Queryable,
  method: { organizationId: string; provider: string; details: Record<string, string> },
): Promise<void> {
  await sql`insert into payment_methods (organization_id, provider, details)
    values (${method.organizationId}, ${method.provider}, ${sql.json(method.details)})
    on conflict (organization_id) do update set provider = excluded.provider, details = excluded.details`;
}
