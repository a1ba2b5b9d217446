import { badRequest, CloudError } from '@gantry/model/errors';
import type { HttpBindings } from '@hono/node-server';
import { Hono } from 'hono';
import { mountBillingPage } from './billing/billing-page.ts';
import { mountPaymentWebhook } from './billing/stripe-webhook.ts';
import type { Deps } from './deps.ts';
import { mountDocs } from './http/docs-page.ts';
import { findReaders } from './http/etags.ts';
import { mountHealth } from './http/health.ts';
import { nosniff } from './http/nosniff.ts';
import { API_PREFIX, buildOpenApiDocument } from './http/openapi.ts';
import { refuse } from './http/refuse.ts';
import { createPathRouter } from './http/routing/path-router.ts';
import { hasDotSegment } from './http/routing/request-target.ts';
import { serve } from './http/serve.ts';
import { mountInvitationPage } from './invitations/invitation-page.ts';
import { mountConsolePages } from './pages/console-pages.ts';
import { mountJoinPage } from './pages/join-page.ts';
import { ALL_ROUTES } from './routes.ts';

/** Returns the whole api as a value, without sockets or globals. */
export function buildApp(deps: Deps): Hono {
  const app = new Hono({ router: createPathRouter() });
  mountHealth(app, deps);
  mountDocs(app);
  mountBillingPage(app, deps);
  mountPaymentWebhook(app, deps);
  mountInvitationPage(app, deps);
  mountJoinPage(app, deps);
  mountConsolePages(app);
  app.get(`${API_PREFIX}/openapi.json`, nosniff, (c) => c.json(readDocument()));
  const readers = findReaders(ALL_ROUTES);
  for (const route of ALL_ROUTES) {
    app.on(
      route.method.toUpperCase(),
      API_PREFIX + route.path.replaceAll(/\{(\w+)\}/g, ':$1'),
      serve(route, deps, readers.get(route)),
    );
  }
  app.notFound((c) => {
    const message = `there is no route ${c.req.method} ${c.req.path}: see ${API_PREFIX}/openapi.json`;
    return replyWithError(deps, c.req, new CloudError('not_found', message));
  });
  app.onError((error, c) => replyWithError(deps, c.req, error));
  refuseDotSegments(app, deps);
  return app;
}

let document: ReturnType<typeof buildOpenApiDocument> | undefined;

/** Builds the document when it is first requested: that takes half a second, and most processes never need it. */
function readDocument(): ReturnType<typeof buildOpenApiDocument> {
  document ??= buildOpenApiDocument([...ALL_ROUTES]);
  return document;
}

/** Looks at the target as the client sent it: a router gets a path without dot segments. */
function refuseDotSegments(app: Hono, deps: Deps): void {
  const { fetch } = app;
  app.fetch = (request, bindings, context) => {
    const { incoming } = (bindings ?? {}) as Partial<HttpBindings>;
    const target = incoming?.url ?? '';
    if (!hasDotSegment(target)) return fetch(request, bindings, context);
    const error = badRequest([{ field: 'path', reason: 'must not have the segments "." or ".."' }]);
    return replyWithError(deps, { method: request.method, path: target }, error);
  };
}

type Addressed = { method: string; path: string };

/** Replies to requests that no route serves, and to errors outside of routes. */
function replyWithError({ log }: Deps, { method, path }: Addressed, error: unknown): Response {
  const { body, ...reply } = refuse({ log, method, path, error });
  return new Response(body, reply);
}
