import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { projectRoute } from '../routes.tsx';
import { readVmFilter } from './vms/vm-filters.tsx';

/** The screens of a project. Each is loaded when it is opened. */
export const projectRoutes = [
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'vms',
    validateSearch: readVmFilter,
    component: lazyRouteComponent(() => import('./vms/vm-list.tsx'), 'VmList'),
  }),
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'vms/new',
    component: lazyRouteComponent(() => import('./vms/create/create-vm.tsx'), 'CreateVm'),
  }),
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'vms/$vmId',
    component: lazyRouteComponent(() => import('./vms/detail/vm-page.tsx'), 'VmPage'),
  }),
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'disks',
    component: lazyRouteComponent(() => import('./disks/disk-list.tsx'), 'DiskList'),
  }),
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'network',
    component: lazyRouteComponent(() => import('./network/network-page.tsx'), 'NetworkPage'),
  }),
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'usage',
    component: lazyRouteComponent(() => import('./usage/usage-page.tsx'), 'UsagePage'),
  }),
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'access',
    component: lazyRouteComponent(() => import('./access/access-page.tsx'), 'AccessPage'),
  }),
] as const;
