import type { Queryable } from '@gantry/db/connect';
import {
  hasProjects,
  removeOrganization,
  updateOrganizationName,
} from '@gantry/db/queries/tenants/organizations';
import {
  insertOrganization,
  insertOwner,
  type OrganizationRow,
} from '@gantry/db/queries/tenants/tenants';
import { hasUnbilledUsage } from '@gantry/db/queries/usage/unbilled-usage';
import { CloudError, notFound } from '@gantry/model/errors';
import { newId } from '@gantry/model/ids';
import type { Caller } from '../../auth/caller.ts';
import type { BillingProvider } from '../../payment-providers/provider.ts';

type Creation = { sql: Queryable; caller: Caller; billing: BillingProvider; name: string };

/** Creates an organization. The caller becomes its owner. */
export async function createOrganization({
  sql,
  caller,
  billing,
  name,
}: Creation): Promise<OrganizationRow> {
  if (!mayCreate(caller)) {
    throw new CloudError(
      'forbidden',
      'only operators and owners of an organization may create an organization',
    );
  }
  const id = newId();
  const organization = { id, name, payment_customer_id: billing.customerIdFor(id) };
  await insertOrganization(sql, organization);
  await insertOwner(sql, { id: newId(), organizationId: id, userId: caller.grant.id });
  return organization;
}

function mayCreate(caller: Caller): boolean {
  if (caller.type !== 'user') return false;
  const { operator, operator_role } = caller.grant;
  if (operator && operator_role !== 'read-only') return true;
  return caller.grant.memberships.some(({ role }) => role === 'owner');
}

export async function renameOrganization(
  sql: Queryable,
  change: { organizationId: string; name: string },
): Promise<OrganizationRow> {
  const organization = await updateOrganizationName(sql, change);
  if (!organization) throw notFound('organization');
  return organization;
}

/** If a project is created at the same time, its foreign key makes the deletion fail. */
export async function deleteOrganization(
  sql: Queryable,
  organizationId: string,
): Promise<OrganizationRow> {
  if (await hasProjects(sql, organizationId)) {
    throw new CloudError('conflict', 'the organization has projects: delete them first');
  }
  if (await hasUnbilledUsage(sql, organizationId)) {
    throw new CloudError(
      'conflict',
      'the organization has usage that is not billed yet: delete it after its last day of usage is closed, shortly after midnight UTC',
    );
  }
  const organization = await removeOrganization(sql, organizationId);
  if (!organization) throw notFound('organization');
  return organization;
}
