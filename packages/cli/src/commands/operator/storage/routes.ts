import { buildRouteMap } from '@stricli/core';
import { storageClusterRoutes } from './clusters.ts';
import { storagePoolRoutes } from './pools.ts';

export const storageRoutes = buildRouteMap({
  routes: { cluster: storageClusterRoutes, pool: storagePoolRoutes },
  docs: { brief: 'Storage clusters and their pools (for operators)' },
});
