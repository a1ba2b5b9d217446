import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { operatorRoute } from '../../routes.tsx';

/** The screens of operators. Each is loaded when it is opened. */
export const operatorRoutes = [
  createRoute({
    getParentRoute: () => operatorRoute,
    path: 'hosts',
    component: lazyRouteComponent(() => import('./host-list.tsx'), 'HostList'),
  }),
] as const;
