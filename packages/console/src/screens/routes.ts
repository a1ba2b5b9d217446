import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { projectRoute } from '../routes.tsx';

/** The screens of a project. Each is loaded when it is opened. */
export const projectRoutes = [
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'vms',
    component: lazyRouteComponent(() => import('./vms/vm-list.tsx'), 'VmList'),
  }),
] as const;
