import { adminAuditLogRoutes } from './admin-audit-logs.ts';
import { adminDeviceRoutes } from './admin-devices.ts';
import { adminHostRoutes } from './admin-hosts.ts';
import { adminImageRoutes } from './admin-images.ts';
import { adminJoinTokenRoutes } from './admin-join-tokens.ts';
import { adminLocationRoutes } from './admin-locations.ts';
import { adminOrganizationRoutes } from './admin-organizations.ts';
import { adminPlacementRoutes } from './admin-placements.ts';
import { adminPriceRoutes } from './admin-prices.ts';
import { adminProjectRoutes } from './admin-projects.ts';
import { adminPublicAddressRoutes } from './admin-public-addresses.ts';
import { adminQuotaRoutes } from './admin-quotas.ts';
import { adminSigningKeyRoutes } from './admin-signing-keys.ts';
import { adminUserRoutes } from './admin-users.ts';
import { adminVmTypeRoutes } from './admin-vm-types.ts';

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
