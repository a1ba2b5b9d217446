import type { AnyRoute } from '../http/route.ts';
import { accessKeyRoutes } from './access-keys.ts';
import { adminRoutes } from './admin.ts';
import { auditLogRoutes } from './audit-logs.ts';
import { authRoutes } from './auth.ts';
import { billingRoutes } from './billing.ts';
import { catalogueRoutes } from './catalogue.ts';
import { consoleRoutes } from './consoles.ts';
import { deviceReceiptRoutes } from './device-receipts.ts';
import { diskAttachmentRoutes } from './disk-attachments.ts';
import { diskRoutes } from './disks.ts';
import { eventRoutes } from './events.ts';
import { firewallRuleRoutes } from './firewall-rules.ts';
import { memberRoutes } from './members.ts';
import { networkRoutes } from './networks.ts';
import { operationRoutes } from './operations.ts';
import { organizationRoutes } from './organizations.ts';
import { projectRoutes } from './projects.ts';
import { quotaRoutes } from './quotas.ts';
import { rootRoutes } from './root.ts';
import { serialLogRoutes } from './serial-logs.ts';
import { usageRoutes } from './usage.ts';
import { vmRoutes } from './vms.ts';

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
