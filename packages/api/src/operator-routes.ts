import { adminAuditLogRoutes } from './audit-logs/operator-routes.ts';
import { adminLocationRoutes } from './catalogue/location-routes.ts';
import { adminVmTypeRoutes } from './catalogue/vm-type-routes.ts';
import { adminImageRoutes } from './images/routes.ts';
import { adminDeviceRoutes } from './operators/devices/routes.ts';
import { adminHostRoutes } from './operators/hosts/routes.ts';
import { adminJoinTokenRoutes } from './operators/join-tokens/routes.ts';
import { adminPlacementRoutes } from './operators/placements/routes.ts';
import { adminPriceRoutes } from './operators/prices/routes.ts';
import { adminPublicAddressRoutes } from './operators/public-addresses/routes.ts';
import { adminOrganizationRoutes } from './tenants/organizations/operator-routes.ts';
import { adminProjectRoutes } from './tenants/projects/operator-routes.ts';
import { adminQuotaRoutes } from './tenants/quotas/operator-routes.ts';
import { adminUserRoutes } from './tenants/users/routes.ts';
import { adminSigningKeyRoutes } from './tokens/operator-routes.ts';

/** The operators' own interface to the catalogue, the hosts, the tenants and the users. */
export const adminRoutes = [
  ...adminLocationRoutes,
  ...adminVmTypeRoutes,
  ...adminImageRoutes,
  ...adminPriceRoutes,
  ...adminHostRoutes,
  ...adminDeviceRoutes,
  ...adminPlacementRoutes,
  ...adminPublicAddressRoutes,
  ...adminJoinTokenRoutes,
  ...adminOrganizationRoutes,
  ...adminProjectRoutes,
  ...adminQuotaRoutes,
  ...adminUserRoutes,
  ...adminAuditLogRoutes,
  ...adminSigningKeyRoutes,
];
