import { randomUUID } from 'node:crypto';
import { insertAuditLines } from '@gantry/db/queries/operations/records';
import { CloudError } from '@gantry/model/errors';
import { z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { authorize, type Scope } from '../auth/authorize.ts';
import { bearerOf, type Caller, callerId } from '../auth/caller.ts';
import { chargedOrganization, isOperator } from '../auth/charged-organization.ts';
import { redeemConsoleTicket } from '../auth/console-tickets.ts';
import { sourceOf } from '../auth/source.ts';
import { TooManyRequests } from '../base/rate-limit.ts';
import { type Deps, requireRightClock } from '../deps.ts';
import { etagOf, hasEtag, parseIfMatch } from './etags.ts';
import { toErrorReply } from './http-errors.ts';
import {
  acceptsEvents,
  disconnectOf,
  headerOf,
  queryOf,
  sourceIpOf,
  upgradeOf,
} from './incoming.ts';
import { NOSNIFF } from './nosniff.ts';
import { NO_BODY, parseInput, readJsonBody } from './parse-input.ts';
import { auditLine, operationIdOf, performWrite } from './perform-write.ts';
import { type AnyRoute, isWrite, type Request } from './route.ts';
import { traceWrite } from './trace-write.ts';

/** How many requests a request with a wrong bearer counts as, in the limit of its source. */
const FAILED_BEARER_COST = 20;
/** A write that concerns this many hosts counts as one more request in the rate of the organization. */
const HOSTS_PER_REQUEST = 10;

/**
 * Serves one route. The steps of a request, in this order: check the clock, limit the rate of the
 * source, authenticate the caller, limit its rate, parse the path, authorize the caller, limit the rate
 * of its organization, check for a payment method, parse query and body, wait for the organization's
 * turn at the database, call the handler. Every error becomes a reply here, and every reply is logged
 * here.
 *
 * `reader` is the GET of the resource that the route reads or updates; see etags.ts.
 */
export function serve(route: AnyRoute, deps: Deps, reader?: AnyRoute) {
  return async function serveRequest(c: Context): Promise<Response> {
    const state: RequestState = {
      requestId: randomUUID(),
      now: new Date(deps.clock.nowMs()),
      caller: undefined,
      scope: undefined,
      operationId: '',
    };
    const started = performance.now();
    let status = 200;
    let isIgnored = false;
    try {
      const body = await handle({ route, deps, c, state, reader });
      const headers = headersOf(body, hasEtag(route, reader));
      return reply({ status, requestId: state.requestId, body, headers });
    } catch (error) {
      const failure = toErrorReply(error, state.requestId);
      status = failure.status;
      // A refused write was rolled back. After a fault it is unknown whether the operation exists.
      if (failure.fault === undefined) state.operationId = '';
      isIgnored = error instanceof TooManyRequests && error.isIgnored;
      if (failure.fault !== undefined) {
        deps.log.error({ request_id: state.requestId, error: failure.fault }, 'request failed');
      }
      auditRefusal({ route, deps, c, state, status });
      return reply({
        ...failure,
        requestId: state.requestId,
        body: JSON.stringify(failure.body),
      });
    } finally {
      const ms = performance.now() - started;
      if (isIgnored) await deps.refusalPause();
      deps.metrics.observe({ route: route.path, method: route.method, status, seconds: ms / 1000 });
      deps.requestLog({
        requestId: state.requestId,
        method: c.req.method,
        route: route.id,
        path: c.req.path,
        status,
        ms,
        actorId: state.caller ? callerId(state.caller) : '',
        operationId: state.operationId,
        at: state.now,
      });
      traceWrite({ route, deps, c, state, status });
    }
  };
}

type RequestState = {
  requestId: string;
  now: Date;
  caller: Caller | undefined;
  scope: Scope | undefined;
  /** The operation that the request opened; empty if there is none. */
  operationId: string;
};
type Handling = {
  route: AnyRoute;
  deps: Deps;
  c: Context;
  state: RequestState;
  reader?: AnyRoute | undefined;
};

/** Returns the reply's JSON text, or a stream of events. */
async function handle({ route, deps, c, state, reader }: Handling): Promise<Body> {
  requireRightClock(deps);
  const sourceIp = sourceIpOf(c, deps.trustedProxies);
  const source = sourceOf(sourceIp);
  deps.sourceLimiter.take(source);
  if (route.access.level !== 'public') {
    state.caller = await identify({ route, deps, c }).catch((error) => {
      deps.sourceLimiter.charge(source, FAILED_BEARER_COST);
      throw error;
    });
    const id = callerId(state.caller);
    deps.rateLimiter.take(id);
    if (state.caller.type === 'access_key') deps.keyUses.note({ id, at: state.now, ip: sourceIp });
  }
  const params = route.params ? parseInput(route.params, c.req.param(), 'path') : {};
  const caller = state.caller ?? ANONYMOUS;
  const scope = await authorizeWithinRate({ route, deps, state, caller, params });
  if (!scope.paid && !route.unpaid) await requirePayment(deps, scope);

  const isStream = route.stream !== undefined && acceptsEvents(c);
  const querySchema = isStream ? NO_QUERY : route.query;
  const query = querySchema ? parseInput(querySchema, queryOf(c), 'query') : {};
  const { raw, value } = isWrite(route) ? await readJsonBody(c, route) : NO_BODY;
  const body = route.body ? parseInput(route.body, value ?? {}, 'body') : undefined;
  const organizationId = chargedOrganization(caller, scope.organizationId);
  const request: Request<unknown, unknown, unknown> = {
    deps,
    sql: deps.sql,
    caller,
    scope,
    params,
    query,
    body,
    now: state.now,
    deadlineMs: deps.operationDeadlineMs,
    sourceIp,
    userAgent: headerOf(c, 'user-agent') ?? '',
    requestId: state.requestId,
    chargeHosts: (hosts) => {
      if (organizationId)
        deps.organizationLimiter.charge(organizationId, Math.floor(hosts / HOSTS_PER_REQUEST));
    },
    upgrade: upgradeOf(c),
  };
  if (route.stream && isStream) {
    return route.stream(request, {
      bearer: bearerOf(headerOf(c, 'authorization')) ?? '',
      lastEventId: headerOf(c, 'last-event-id'),
      disconnect: disconnectOf(c),
    });
  }
  const ifMatch = isWrite(route) ? headerOf(c, 'if-match') : undefined;
  const requireMatch = ifMatch === undefined ? undefined : parseIfMatch(ifMatch, reader);
  const work = async () =>
    isWrite(route) && route.access.level !== 'public'
      ? await performWrite({
          route,
          request,
          requestId: state.requestId,
          rawBody: raw,
          url: c.req.path,
          idempotencyKey: headerOf(c, 'idempotency-key'),
          requireMatch,
          onReply: (reply) => {
            state.operationId = operationIdOf(reply);
          },
        })
      : await performRead(route, request);
  // A console is open for hours and waits for its host, not for the database.
  if (state.caller === undefined || route.webSocket) return await work();
  const sharer = organizationId ?? callerId(caller);
  return await deps.requestQueue.run({ source: sharer, first: isOperator(caller), work });
}

async function performRead(
  route: AnyRoute,
  request: Request<unknown, unknown, unknown>,
): Promise<string> {
  if (!('handle' in route)) throw new Error(`BUG: ${route.id} has no handler for reads`);
  const { deps, requestId } = request;
  const result = await route.handle(request);
  if (route.webSocket) {
    const line = auditLine({ route, request, requestId }, { status: 200, resourceId: undefined });
    await insertAuditLines(deps.sql, [line]);
  }
  return JSON.stringify(result);
}

type Authorizing = Omit<Handling, 'c'> & { caller: Caller; params: Record<string, string> };

/** All credentials of an organization share its rate. A request that is refused counts too. */
async function authorizeWithinRate(authorizing: Authorizing): Promise<Scope> {
  const { route, deps, state, caller, params } = authorizing;
  try {
    state.scope = await authorize({
      ...{ access: route.access, caller, params, callers: deps.callers },
    });
    return state.scope;
  } finally {
    const organizationId = chargedOrganization(caller, state.scope?.organizationId ?? '');
    if (organizationId) deps.organizationLimiter.take(organizationId);
  }
}

async function identify({ route, deps, c }: Omit<Handling, 'state'>): Promise<Caller> {
  const authorization = headerOf(c, 'authorization');
  const ticket = route.webSocket && authorization === undefined ? c.req.query('ticket') : undefined;
  if (ticket === undefined) return await deps.callers.authenticate(authorization);
  const { sql, callers } = deps;
  return await redeemConsoleTicket({ sql, callers, ticket, vmId: c.req.param('vm_id') ?? '' });
}

/** The caller of a public route. It has no rights. */
const ANONYMOUS: Caller = {
  type: 'user',
  grant: {
    id: '00000000-0000-0000-0000-000000000000',
    email: '',
    operator: false,
    operator_role: 'read-only',
    token_generation: 0,
    ended_logins: [],
    memberships: [],
  },
  loginId: '',
};

async function requirePayment(deps: Deps, scope: Scope): Promise<void> {
  if (scope.organizationId && (await deps.billing.confirmPayment(scope.organizationId))) return;
  const path = `/v0.1/organizations/${scope.organizationId || '{organization_id}'}/billing`;
  throw new CloudError(
    'payment_required',
    `the organization has no payment method yet: open the link from GET ${path} and enter one`,
  );
}

function auditRefusal({ route, deps, c, state, status }: Handling & { status: number }): void {
  const { caller, scope } = state;
  // Unauthenticated and rate-limited requests are not in the audit log.
  if (!(isWrite(route) || route.webSocket) || !caller || status === 429) return;
  const request: Request<unknown, unknown, unknown> = {
    deps,
    sql: deps.sql,
    caller,
    now: state.now,
    deadlineMs: deps.operationDeadlineMs,
    params: c.req.param(),
    query: {},
    body: undefined,
    scope: scope ?? { organizationId: '', projectId: '', role: 'read-only', paid: true },
    sourceIp: sourceIpOf(c, deps.trustedProxies),
    userAgent: '',
    requestId: state.requestId,
    chargeHosts: () => {},
  };
  deps.refusals.add(
    auditLine({ route, request, requestId: state.requestId }, { status, resourceId: undefined }),
  );
}

type Body = string | ReadableStream<Uint8Array>;
type Reply = { status: number; requestId: string; body: Body; headers: Record<string, string> };

const NO_HEADERS = {};
const NO_QUERY = z.strictObject({});
/** A stream has a connection of its own, which closes with it. Proxies are asked not to buffer it. */
const STREAM_HEADERS = {
  'content-type': 'text/event-stream',
  'x-accel-buffering': 'no',
  connection: 'close',
};

function headersOf(body: Body, isTagged: boolean): Record<string, string> {
  if (typeof body !== 'string') return STREAM_HEADERS;
  return isTagged ? { etag: etagOf(body) } : NO_HEADERS;
}

function reply({ status, requestId, body, headers }: Reply): Response {
  // The server uses plain headers as they are; it would copy a Headers object twice.
  const own = {
    'content-type': 'application/json',
    'cache-control': 'no-store',
    'x-content-type-options': NOSNIFF['x-content-type-options'],
    'x-request-id': requestId,
  };
  return new Response(body, {
    status,
    headers: headers === NO_HEADERS ? own : { ...own, ...headers },
  });
}
