import type { Queryable } from '@gantry/db/connect';
import type { WriteRecord } from '@gantry/db/queries/records';
import type { z } from '@hono/zod-openapi';
import type { WebSocket } from 'ws';
import type { Access, Scope } from '../auth/authorize.ts';
import type { Caller } from '../auth/caller.ts';
import type { Deps } from '../deps.ts';

/**
 * A route is a value: the contract (paths, schemas, who may call) and the function that answers.
 * The server, the OpenAPI document and the tests of who sees what are all made from the same list.
 */
export type Method = 'get' | 'post' | 'patch' | 'put' | 'delete';

export type Request<Params, Query, Body> = {
  deps: Deps;
  /** The open transaction of a write; the pool for a read. */
  sql: Queryable;
  caller: Caller;
  scope: Scope;
  params: Params;
  query: Query;
  body: Body;
  now: Date;
  /** When an operation that this request opens has failed, if it has not ended. */
  deadlineAt: Date;
  /** The address the request came from. */
  sourceIp: string;
  /** Makes the connection a WebSocket once everything is recorded; undefined where none was asked for. */
  upgrade?: Upgrade | undefined;
};

export type Upgrade = (serve: (socket: WebSocket) => void) => void;

type RouteBase<Params, Query, Body, Reply> = {
  /** The verb and its object, as the audit log and the OpenAPI document name it: `vms.create`. */
  id: string;
  method: Method;
  /** Below /v0.1, with parameters in braces. */
  path: string;
  summary: string;
  access: Access;
  /** Open to organizations without a payment method. */
  unpaid?: true;
  params?: z.ZodType<Params>;
  query?: z.ZodType<Query>;
  body?: z.ZodType<Body>;
  reply: z.ZodType<Reply>;
  /** The reply carries a secret: a copy kept for an Idempotency-Key is sealed. */
  secretReply?: true;
  /** Who may do what changes with it: remembered grants are dropped. */
  changesAccess?: true;
  /** What is opened is a WebSocket: a ticket stands for a bearer, and the audit log has every opening. */
  webSocket?: true;
};

type Handler<Params, Query, Body, Reply> = (
  request: Request<Params, Query, Body>,
) => Promise<Reply>;

/**
 * A write that records itself, because it is one statement: it calls `record` with its reply to get
 * what belongs into that statement. All other writes run in a transaction, and are recorded there.
 */
type SelfRecording<Params, Query, Body, Reply> = (
  request: Request<Params, Query, Body>,
  record: (reply: Reply) => WriteRecord,
) => Promise<Reply>;

export type Route<Params = never, Query = never, Body = never, Reply = unknown> = RouteBase<
  Params,
  Query,
  Body,
  Reply
> &
  (
    | { handle: Handler<Params, Query, Body, Reply> }
    | { handleRecorded: SelfRecording<Params, Query, Body, Reply> }
  );

// biome-ignore lint/suspicious/noExplicitAny: a list of routes holds every combination of types
export type AnyRoute = Route<any, any, any, any>;

export function route<Params, Query, Body, Reply>(
  definition: Route<Params, Query, Body, Reply>,
): AnyRoute {
  return definition;
}

export function isWrite({ method }: { method: Method }): boolean {
  return method !== 'get';
}
