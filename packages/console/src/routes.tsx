import { createRootRoute, createRoute, Outlet } from '@tanstack/react-router';
import { AppShell } from './shell/app-shell.tsx';
import { Home } from './shell/home.tsx';
import { LoginGate } from './shell/login-gate.tsx';
import { NotFound } from './shell/not-found.tsx';
import { OperatorFrame } from './shell/operator-frame.tsx';
import { ProjectFrame } from './shell/project-frame.tsx';

/** The routes that others are children of. The first parts of their paths are also in the API's console-pages.ts. */
export const rootRoute = createRootRoute({
  component: () => (
    <LoginGate>
      <Outlet />
    </LoginGate>
  ),
});

export const shellRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'shell',
  component: AppShell,
  notFoundComponent: NotFound,
});

export const homeRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/',
  component: Home,
});

export const projectRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/projects/$projectId',
  component: ProjectFrame,
});

export const operatorRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/operator',
  component: OperatorFrame,
});
