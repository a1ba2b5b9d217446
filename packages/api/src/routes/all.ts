import type { AnyRoute } from '../http/route.ts';
import { authRoutes } from './auth.ts';
import { catalogueRoutes } from './catalogue.ts';
import { operationRoutes } from './operations.ts';
import { rootRoutes } from './root.ts';
import { vmRoutes } from './vms.ts';

/** Every route of the API; paths with fixed segments come before those with parameters in their place. */
export const ALL_ROUTES: readonly AnyRoute[] = [
  ...rootRoutes,
  ...authRoutes,
  ...catalogueRoutes,
  ...operationRoutes,
  ...vmRoutes,
];
