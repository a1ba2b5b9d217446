import { z } from '@hono/zod-openapi';
import { OrganizationParams } from '../http/fields.ts';
import { route } from '../http/route.ts';

const BillingSession = z
  .object({ url: z.url().openapi({ description: 'A temporary link to the billing dashboard.' }) })
  .openapi('BillingSession');

export const billingRoutes = [
  route({
    id: 'billing.get',
    method: 'get',
    path: '/organizations/{organization_id}/billing',
    summary: 'Get a temporary link to the billing dashboard, where you enter a payment method',
    access: { level: 'organization', role: 'owner' },
    unpaid: true,
    params: OrganizationParams,
    reply: BillingSession,
    handle: async ({ deps, scope }) => ({
      url: await deps.billing.createSession(scope.organizationId),
    }),
  }),
];
