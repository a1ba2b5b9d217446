import { auditLogRoutes } from './audit-logs/routes.ts';
import { billingRoutes } from './billing/routes.ts';
import { catalogueRoutes } from './catalogue/routes.ts';
import { consoleRoutes } from './consoles/routes.ts';
import { deviceReceiptRoutes } from './device-receipts/routes.ts';
import { diskRoutes } from './disks/routes.ts';
import { eventRoutes } from './events/routes.ts';
import { firewallRuleRoutes } from './firewall/routes.ts';
import { rootRoutes } from './http/root.ts';
import type { AnyRoute } from './http/route.ts';
import { networkRoutes } from './networks/routes.ts';
import { operationRoutes } from './operations/routes.ts';
import { adminRoutes } from './operator-routes.ts';
import { accessKeyRoutes } from './tenants/access-keys/routes.ts';
import { memberRoutes } from './tenants/members/routes.ts';
import { organizationRoutes } from './tenants/organizations/routes.ts';
import { projectRoutes } from './tenants/projects/routes.ts';
import { quotaRoutes } from './tenants/quotas/routes.ts';
import { authRoutes } from './tokens/routes.ts';
import { usageRoutes } from './usage/routes.ts';
import { diskAttachmentRoutes } from './vms/attachment-routes.ts';
import { vmRoutes } from './vms/routes.ts';
import { serialLogRoutes } from './vms/serial-log-routes.ts';

/** Every route of the API. */
export const ALL_ROUTES: readonly AnyRoute[] = [
  ...rootRoutes,
  ...authRoutes,
  ...organizationRoutes,
  ...billingRoutes,
  ...projectRoutes,
  ...catalogueRoutes,
  ...vmRoutes,
  ...serialLogRoutes,
  ...consoleRoutes,
  ...diskAttachmentRoutes,
  ...diskRoutes,
  ...firewallRuleRoutes,
  ...networkRoutes,
  ...operationRoutes,
  ...eventRoutes,
  ...deviceReceiptRoutes,
  ...accessKeyRoutes,
  ...quotaRoutes,
  ...memberRoutes,
  ...usageRoutes,
  ...auditLogRoutes,
  ...adminRoutes,
];
