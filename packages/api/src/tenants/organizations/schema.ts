import { z } from '@hono/zod-openapi';
import { Label, Page, ReplyId } from '../../http/fields.ts';

export const Organization = z
  .object({ id: ReplyId, name: z.string(), payment_customer_id: z.string() })
  .openapi('Organization');

export const Organizations = z.array(Organization);

export const OrganizationName = z.strictObject({ name: Label }).openapi('OrganizationName');

export const AdminOrganization = Organization.extend({
  paid: z.boolean(),
  standing: z.enum(['good', 'payment_problem', 'suspended']),
}).openapi('AdminOrganization');
export const AdminOrganizations = Page(AdminOrganization);
