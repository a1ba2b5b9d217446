import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { fleet } from '../../api/admin-queries.ts';
import { queryClient } from '../../api/query-client.ts';
import { operatorRoute } from '../../routes.tsx';

/** The screens of operators. Each is loaded when it is opened. */
export const operatorRoutes = [
  createRoute({
    getParentRoute: () => operatorRoute,
    path: 'overview',
    component: lazyRouteComponent(() => import('./overview/overview.tsx'), 'Overview'),
  }),
  createRoute({
    getParentRoute: () => operatorRoute,
    path: 'map',
    // The reply is large, so it is requested while the script of the screen is still on its way.
    loader: () => void queryClient.prefetchQuery(fleet()),
    component: lazyRouteComponent(() => import('./fleet-map/fleet-map.tsx'), 'FleetMap'),
  }),
  createRoute({
    getParentRoute: () => operatorRoute,
    path: 'hosts',
    component: lazyRouteComponent(() => import('./host-list.tsx'), 'HostList'),
  }),
  createRoute({
    getParentRoute: () => operatorRoute,
    path: 'hosts/$hostId',
    component: lazyRouteComponent(() => import('./host/host-screen.tsx'), 'HostScreen'),
  }),
  createRoute({
    getParentRoute: () => operatorRoute,
    path: 'hosts/$hostId/devices/$deviceId',
    component: lazyRouteComponent(() => import('./device/device-screen.tsx'), 'DeviceScreen'),
  }),
  createRoute({
    getParentRoute: () => operatorRoute,
    path: 'rollouts',
    component: lazyRouteComponent(() => import('./rollouts/rollout-list.tsx'), 'RolloutList'),
  }),
  createRoute({
    getParentRoute: () => operatorRoute,
    path: 'rollouts/$rolloutId',
    component: lazyRouteComponent(() => import('./rollouts/rollout-screen.tsx'), 'RolloutScreen'),
  }),
  createRoute({
    getParentRoute: () => operatorRoute,
    path: 'why-not',
    component: lazyRouteComponent(() => import('./placement/why-not.tsx'), 'WhyNot'),
  }),
  createRoute({
    getParentRoute: () => operatorRoute,
    path: 'join',
    component: lazyRouteComponent(() => import('./join/join-host.tsx'), 'JoinHost'),
  }),
  createRoute({
    getParentRoute: () => operatorRoute,
    path: 'tenants',
    component: lazyRouteComponent(() => import('./tenants/tenant-list.tsx'), 'TenantList'),
  }),
  createRoute({
    getParentRoute: () => operatorRoute,
    path: 'tenants/$organizationId',
    component: lazyRouteComponent(() => import('./tenants/tenant-screen.tsx'), 'TenantScreen'),
  }),
  createRoute({
    getParentRoute: () => operatorRoute,
    path: 'users',
    component: lazyRouteComponent(() => import('./tenants/user-list.tsx'), 'UserList'),
  }),
  createRoute({
    getParentRoute: () => operatorRoute,
    path: 'audit-log',
    component: lazyRouteComponent(() => import('./tenants/audit-log.tsx'), 'AuditLog'),
  }),
  createRoute({
    getParentRoute: () => operatorRoute,
    path: 'catalogue',
    component: lazyRouteComponent(() => import('./catalogue/catalogue.tsx'), 'CatalogueScreen'),
  }),
] as const;
