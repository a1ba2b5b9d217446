import type { Queryable } from '@gantry/db/connect';
import type { WriteRecord } from '@gantry/db/queries/operations/records';
import type { z } from '@hono/zod-openapi';
import type { WebSocket } from 'ws';
import type { Access, Scope } from '../auth/authorize.ts';
import type { Caller } from '../auth/caller.ts';
import type { Deps } from '../deps.ts';

/**
 * A route is a value: its path, schemas, required role and handler. The server, the OpenAPI
 * document and the tests of access rights all read the same list of routes.
 */
export type Method = 'get' | 'post' | 'patch' | 'put' | 'delete';

export type Request<Params, Query, Body> = {
  deps: Deps;
  /** The open transaction of a write, or the pool for a read. */
  sql: Queryable;
  caller: Caller;
  scope: Scope;
  params: Params;
  query: Query;
  body: Body;
  now: Date;
  /** The time after which an operation that this request starts fails if it is unfinished. */
  deadlineMs: number;
  /** The client's IP address. */
  sourceIp: string;
  /** What the client calls itself; empty if it sent nothing. */
  userAgent: string;
  requestId: string;
  /**
   * Counts the request as more than one in the rate of the organization, because it gives work to so many
   * hosts.
   */
  chargeHosts: (hosts: number) => void;
  /**
   * Makes the connection a WebSocket after the reply; undefined if the client did not ask for one.
   */
  upgrade?: Upgrade | undefined;
};

export type Upgrade = (serve: (socket: WebSocket) => void) => void;

/** What a stream of events needs to know about the client that asked for it. */
export type StreamClient = {
  /** The access key or token, which is checked again while the stream is open. */
  bearer: string;
  /** The header `Last-Event-ID`. */
  lastEventId: string | undefined;
  /** Closes the connection without waiting for the client. */
  disconnect: () => void;
};

type RouteBase<Params, Query, Body, Reply> = {
  /** The name in the audit log and the OpenAPI document, such as `vms.create`. */
  id: string;
  method: Method;
  /** The path below /v0.1, with parameters in braces. */
  path: string;
  summary: string;
  access: Access;
  /** The route works for organizations without a payment method. */
  unpaid?: true;
  params?: z.ZodType<Params>;
  query?: z.ZodType<Query>;
  body?: z.ZodType<Body>;
  /** The largest body; 256 KiB unless given. */
  maxBodyBytes?: number;
  reply: z.ZodType<Reply>;
  /** The reply contains a secret: the copy that is stored for an Idempotency-Key is encrypted. */
  secretReply?: true;
  /** The write changes access rights: cached rights are dropped after it. */
  changesAccess?: true;
  /**
   * The route opens a WebSocket: it accepts a ticket as the bearer, and the audit log records it.
   */
  webSocket?: true;
  /**
   * Opens a stream of server-sent events for clients that accept `text/event-stream`. It is not stored
   * in the audit log, and takes no query.
   */
  stream?: Streamer<Params>;
};

type Streamer<Params> = (
  request: Request<Params, unknown, unknown>,
  client: StreamClient,
) => ReadableStream<Uint8Array>;

type Handler<Params, Query, Body, Reply> = (
  request: Request<Params, Query, Body>,
) => Promise<Reply>;

/**
 * A write that is one statement and inserts its own audit line and stored reply: it gets both from
 * `record`. All other writes run in a transaction that `performWrite` opens and records.
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
