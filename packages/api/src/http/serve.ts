import { randomUUID } from 'node:crypto';
import { insertAuditLines } from '@gantry/db/queries/records';
import { CloudError } from '@gantry/model/errors';
import type { Context } from 'hono';
import { authorize, type Scope } from '../auth/authorize.ts';
import { type Caller, callerId } from '../auth/caller.ts';
import { redeemConsoleTicket } from '../auth/console-tickets.ts';
import type { Deps } from '../deps.ts';
import { toErrorReply } from './http-errors.ts';
import { headerOf, sourceIpOf, upgradeOf } from './incoming.ts';
import { parseInput, readJsonBody } from './parse-input.ts';
import { auditLine, performWrite } from './perform-write.ts';
import { type AnyRoute, isWrite, type Request } from './route.ts';

/**
 * One request, from bearer to reply: who is it, are they too fast, does the path fit, may they,
 * have they paid, does the rest fit, do it. Every error is answered here, every reply is logged here.
 */
export function serve(route: AnyRoute, deps: Deps) {
  return async function answer(c: Context): Promise<Response> {
    const visit: Visit = {
      requestId: randomUUID(),
      now: new Date(),
      caller: undefined,
      scope: undefined,
    };
    const started = performance.now();
    let status = 200;
    try {
      const body = await perform({ route, deps, c, visit });
      return reply({ status, requestId: visit.requestId, body, headers: NO_HEADERS });
    } catch (error) {
      const failure = toErrorReply(error, visit.requestId);
      status = failure.status;
      if (failure.fault !== undefined) {
        deps.log.error({ request_id: visit.requestId, error: failure.fault }, 'request failed');
      }
      auditRefusal({ route, deps, c, visit, status });
      return reply({
        ...failure,
        requestId: visit.requestId,
        body: JSON.stringify(failure.body),
      });
    } finally {
      const ms = performance.now() - started;
      deps.metrics.observe({ route: route.path, method: route.method, status, seconds: ms / 1000 });
      deps.requestLog({
        requestId: visit.requestId,
        method: c.req.method,
        route: route.id,
        path: c.req.path,
        status,
        ms,
        actorId: visit.caller ? callerId(visit.caller) : '',
        at: visit.now,
      });
    }
  };
}

type Visit = { requestId: string; now: Date; caller: Caller | undefined; scope: Scope | undefined };
type Performance = { route: AnyRoute; deps: Deps; c: Context; visit: Visit };

/** Returns the reply's JSON text. */
async function perform({ route, deps, c, visit }: Performance): Promise<string> {
  if (route.access.level !== 'public') {
    visit.caller = await identify({ route, deps, c });
    deps.rateLimiter.take(callerId(visit.caller));
  }
  const params = route.params ? parseInput(route.params, c.req.param(), 'path') : {};
  const caller = visit.caller ?? NOBODY;
  const scope = await authorize({ access: route.access, caller, params, callers: deps.callers });
  visit.scope = scope;
  if (!scope.paid && !route.unpaid) await requirePayment(deps, scope);

  const query = route.query ? parseInput(route.query, c.req.query(), 'query') : {};
  const { raw, value } = isWrite(route) ? await readJsonBody(c) : { raw: '', value: undefined };
  const body = route.body ? parseInput(route.body, value ?? {}, 'body') : undefined;
  const request: Request<unknown, unknown, unknown> = {
    deps,
    sql: deps.sql,
    caller,
    scope,
    params,
    query,
    body,
    now: visit.now,
    deadlineAt: deadlineOf(visit, deps),
    sourceIp: sourceIpOf(c, deps.trustedProxies),
    upgrade: upgradeOf(c),
  };
  if (!isWrite(route) || route.access.level === 'public') {
    if (!('handle' in route)) throw new Error(`BUG: ${route.id} cannot record itself`);
    const answer = await route.handle(request);
    if (route.webSocket) {
      const line = { route, request, requestId: visit.requestId };
      await insertAuditLines(deps.sql, [auditLine(line, { status: 200, resourceId: undefined })]);
    }
    return JSON.stringify(answer);
  }
  return await performWrite({
    route,
    request,
    requestId: visit.requestId,
    rawBody: raw,
    url: c.req.path,
    idempotencyKey: headerOf(c, 'idempotency-key'),
  });
}

async function identify({ route, deps, c }: Omit<Performance, 'visit'>): Promise<Caller> {
  const authorization = headerOf(c, 'authorization');
  const ticket = route.webSocket && authorization === undefined ? c.req.query('ticket') : undefined;
  if (ticket === undefined) return await deps.callers.authenticate(authorization);
  const { sql, callers } = deps;
  return await redeemConsoleTicket({ sql, callers, ticket, vmId: c.req.param('vm_id') ?? '' });
}

function deadlineOf({ now }: Visit, { operationDeadlineMs }: Deps): Date {
  return new Date(now.getTime() + operationDeadlineMs);
}

/** Stands in for the caller of a public route; it has no rights at all. */
const NOBODY: Caller = {
  type: 'user',
  grant: {
    id: '00000000-0000-0000-0000-000000000000',
    email: '',
    operator: false,
    memberships: [],
  },
};

async function requirePayment(deps: Deps, scope: Scope): Promise<void> {
  if (scope.organizationId && (await deps.billing.confirmPayment(scope.organizationId))) return;
  const path = `/v0.1/organizations/${scope.organizationId || '{organization_id}'}/billing`;
  throw new CloudError(
    'payment_required',
    `the organization has no payment method yet: open the link from GET ${path} and enter one`,
  );
}

function auditRefusal({ route, deps, c, visit, status }: Performance & { status: number }): void {
  const { caller, scope } = visit;
  // Strangers and callers who are merely too fast write no lines.
  if (!(isWrite(route) || route.webSocket) || !caller || status === 429) return;
  const request: Request<unknown, unknown, unknown> = {
    deps,
    sql: deps.sql,
    caller,
    now: visit.now,
    deadlineAt: deadlineOf(visit, deps),
    params: c.req.param(),
    query: {},
    body: undefined,
    scope: scope ?? { organizationId: '', projectId: '', role: 'read-only', paid: true },
    sourceIp: sourceIpOf(c, deps.trustedProxies),
  };
  deps.refusals.add(
    auditLine({ route, request, requestId: visit.requestId }, { status, resourceId: undefined }),
  );
}

type Reply = { status: number; requestId: string; body: string; headers: Record<string, string> };

const NO_HEADERS = {};

function reply({ status, requestId, body, headers }: Reply): Response {
  // Plain headers: the server passes them on as they are, where a Headers object would be copied twice.
  const own = {
    'content-type': 'application/json',
    'cache-control': 'no-store',
    'x-request-id': requestId,
  };
  return new Response(body, {
    status,
    headers: headers === NO_HEADERS ? own : { ...own, ...headers },
  });
}
