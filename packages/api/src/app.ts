import { randomUUID } from 'node:crypto';
import { CloudError } from '@gantry/model/errors';
import { type Context, Hono } from 'hono';
import { mountBillingPage } from './billing/billing-page.ts';
import type { Deps } from './deps.ts';
import { mountDocs } from './http/docs-page.ts';
import { mountHealth } from './http/health.ts';
import { toErrorReply } from './http/http-errors.ts';
import { API_PREFIX, buildOpenApiDocument } from './http/openapi.ts';
import { createPathRouter } from './http/path-router.ts';
import { serve } from './http/serve.ts';
import { ALL_ROUTES } from './routes.ts';

/** Returns the whole api as a value, without sockets or globals. */
export function buildApp(deps: Deps): Hono {
  const app = new Hono({ router: createPathRouter() });
  mountHealth(app, deps);
  mountDocs(app);
  mountBillingPage(app, deps);
  const document = buildOpenApiDocument([...ALL_ROUTES]);
  app.get(`${API_PREFIX}/openapi.json`, (c) => c.json(document));
  for (const route of ALL_ROUTES) {
    app.on(
      route.method.toUpperCase(),
      API_PREFIX + route.path.replaceAll(/\{(\w+)\}/g, ':$1'),
      serve(route, deps),
    );
  }
  app.notFound((c) => {
    const message = `there is no route ${c.req.method} ${c.req.path}: see ${API_PREFIX}/openapi.json`;
    return replyWithError(deps, c, new CloudError('not_found', message));
  });
  app.onError((error, c) => replyWithError(deps, c, error));
  return app;
}

/** Replies to requests that no route serves, and to errors outside of routes. */
function replyWithError(deps: Deps, c: Context, error: unknown): Response {
  const requestId = randomUUID();
  const { status, headers, body, fault } = toErrorReply(error, requestId);
  const line = { request_id: requestId, method: c.req.method, path: c.req.path, status };
  if (fault === undefined) deps.log.info(line, 'request');
  else deps.log.error({ ...line, error: fault }, 'request failed');
  return Response.json(body, { status, headers: { ...headers, 'x-request-id': requestId } });
}
