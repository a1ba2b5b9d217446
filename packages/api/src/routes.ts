import { accountRoutes } from './account/routes.ts';
import { auditLogRoutes } from './audit-logs/routes.ts';
import { backupRoutes } from './backups/routes.ts';
import { billingRoutes } from './billing/routes.ts';
import { standingRoutes } from './billing/standing-routes.ts';
import { catalogueRoutes } from './catalogue/routes.ts';
import { consoleRoutes } from './consoles/routes.ts';
import { deviceReceiptRoutes } from './device-receipts/routes.ts';
import { diskRoutes } from './disks/routes.ts';
import { eventRoutes } from './events/routes.ts';
import { firewallRuleRoutes } from './firewall/routes.ts';
import { rootRoutes } from './http/root.ts';
import type { AnyRoute } from './http/route.ts';
import { imageRoutes } from './images/routes.ts';
import { invitationRoutes } from './invitations/routes.ts';
import { loginRoutes } from './logins/routes.ts';
import { networkRoutes } from './networks/routes.ts';
import { operationRoutes } from './operations/routes.ts';
import { adminDeviceRoutes } from './operators/devices/routes.ts';
import { diskLimitsRoutes } from './operators/disk-limits/routes.ts';
import { adminFleetRoutes } from './operators/fleet/routes.ts';
import { adminHostRoutes } from './operators/hosts/routes.ts';
import { adminJoinTokenRoutes } from './operators/join-tokens/routes.ts';
import { adminOrphanRoutes } from './operators/orphans/routes.ts';
import { adminPlacementRoutes } from './operators/placements/routes.ts';
import { adminPriceRoutes } from './operators/prices/routes.ts';
import { adminPublicAddressRoutes } from './operators/public-addresses/routes.ts';
import { adminResourceRoutes } from './operators/resources/routes.ts';
import { adminRolloutRoutes } from './operators/rollouts/routes.ts';
import { adminStorageRoutes } from './operators/storage/routes.ts';
import { publicAddressRoutes } from './public-addresses/routes.ts';
import { snapshotRoutes } from './snapshots/routes.ts';
import { sshKeyRoutes } from './ssh-keys/routes.ts';
import { accessKeyRoutes } from './tenants/access-keys/routes.ts';
import { memberRoutes } from './tenants/members/routes.ts';
import { organizationRoutes } from './tenants/organizations/routes.ts';
import { projectRoutes } from './tenants/projects/routes.ts';
import { quotaRoutes } from './tenants/quotas/routes.ts';
import { adminUserRoutes } from './tenants/users/routes.ts';
import { tokenRoutes } from './tokens/routes.ts';
import { usageRoutes } from './usage/routes.ts';
import { userSshKeyRoutes } from './user-ssh-keys/routes.ts';
import { vmRoutes } from './vms/routes.ts';
import { webhookRoutes } from './webhooks/routes.ts';

/** Every route of the API, in the order of the OpenAPI document. */
export const ALL_ROUTES: readonly AnyRoute[] = [
  ...rootRoutes,
  ...tokenRoutes,
  ...accountRoutes,
  ...invitationRoutes,
  ...organizationRoutes,
  ...billingRoutes,
  ...standingRoutes,
  ...projectRoutes,
  ...memberRoutes,
  ...accessKeyRoutes,
  ...quotaRoutes,
  ...adminUserRoutes,
  ...catalogueRoutes,
  ...imageRoutes,
  ...vmRoutes,
  ...sshKeyRoutes,
  ...loginRoutes,
  ...userSshKeyRoutes,
  ...consoleRoutes,
  ...diskRoutes,
  ...snapshotRoutes,
  ...backupRoutes,
  ...firewallRuleRoutes,
  ...networkRoutes,
  ...publicAddressRoutes,
  ...operationRoutes,
  ...eventRoutes,
  ...webhookRoutes,
  ...deviceReceiptRoutes,
  ...usageRoutes,
  ...auditLogRoutes,
  ...adminHostRoutes,
  ...adminFleetRoutes,
  ...adminDeviceRoutes,
  ...adminPlacementRoutes,
  ...adminOrphanRoutes,
  ...adminPublicAddressRoutes,
  ...adminStorageRoutes,
  ...diskLimitsRoutes,
  ...adminJoinTokenRoutes,
  ...adminPriceRoutes,
  ...adminResourceRoutes,
  ...adminRolloutRoutes,
];
