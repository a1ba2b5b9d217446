import { createRouter } from '@tanstack/react-router';
import { homeRoute, operatorRoute, projectRoute, rootRoute, shellRoute } from './routes.tsx';
import { operatorRoutes } from './screens/operator/routes.ts';
import { projectRoutes } from './screens/routes.ts';

export const router = createRouter({
  routeTree: rootRoute.addChildren([
    shellRoute.addChildren([
      homeRoute,
      projectRoute.addChildren([...projectRoutes]),
      operatorRoute.addChildren([...operatorRoutes]),
    ]),
  ]),
  defaultPreload: 'intent',
  scrollRestoration: true,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
