import type { BuiltRequest } from './build-request.ts';
import type { BearerSource } from './credential.ts';
import { ApiError, ConnectionError, parseJson, type ReceivedReply } from './errors.ts';
import type { CallOptions, OperationRoute } from './operation.ts';
import { pause, type RetryLimits, retryDelayMs } from './retry.ts';

/**
 * Sends the request of an operation and returns the parsed reply.
 *
 * A request is repeated only if that cannot change anything twice: if it reads, if it carries an
 * Idempotency-Key, or if the server refused it before it did anything (429, and once after 401 with
 * another bearer). A write gets one key for all its attempts. The reply counts as received when its
 * whole body is here.
 */
export type Sender = {
  fetch: typeof fetch;
  limits: RetryLimits;
  /** Undefined for the requests that need no bearer. */
  bearers: BearerSource | undefined;
};

export type Sending = {
  route: OperationRoute;
  request: BuiltRequest;
  options: CallOptions;
};

export async function send(sender: Sender, { route, request, options }: Sending) {
  const { bearers, limits } = sender;
  const { signal } = options;
  const key = route.takesKey ? (options.idempotencyKey ?? newKey()) : undefined;
  const name = { method: route.method, path: new URL(request.url, 'http://relative').pathname };
  const isRepeatable = route.method === 'GET' || key !== undefined;
  let bearer = await bearers?.bearer();
  let mayRenew = bearers !== undefined;
  for (let attempt = 1; ; attempt += 1) {
    const headers = headersOf({
      ...{ bearer, key, hasBody: request.body !== undefined, ifMatch: options.ifMatch },
    });
    const outcome = await attemptOnce(sender, { route, request, headers, signal });
    if (signal?.aborted) throw signal.reason;
    const { reply } = outcome;
    if (reply && reply.status === 200) {
      const etag = reply.headers.get('etag');
      if (etag !== null) options.onEtag?.(etag);
      return readBody(reply, name);
    }
    if (reply?.status === 401 && mayRenew && bearer !== undefined) {
      mayRenew = false;
      const other = await bearers?.renew(bearer);
      if (other === undefined) throw new ApiError(reply, name);
      bearer = other;
      continue;
    }
    const delayMs = retryDelayMs({ attempt, reply, isRepeatable }, limits);
    if (delayMs !== undefined) await pause(delayMs, signal);
    else if (reply) throw new ApiError(reply, name);
    else
      throw new ConnectionError(name, {
        ...{ attempts: attempt, cause: outcome.failure, idempotencyKey: key },
      });
  }
}

type Attempt = {
  route: OperationRoute;
  request: BuiltRequest;
  headers: Record<string, string>;
  signal: AbortSignal | undefined;
};
type Outcome = { reply?: ReceivedReply; failure?: unknown };

/** Never throws: a failure may be repeated. */
async function attemptOnce({ fetch, limits }: Sender, attempt: Attempt): Promise<Outcome> {
  const { route, request, headers, signal } = attempt;
  const limit = limitedSignal(signal, limits.attemptTimeoutMs);
  try {
    const response = await fetch(request.url, {
      method: route.method,
      headers,
      body: request.body ?? null,
      signal: limit.signal,
      // A redirected write would become a read of another address.
      redirect: 'manual',
    });
    const { status, headers: received } = response;
    return { reply: { status, headers: received, text: await response.text() } };
  } catch (failure) {
    return { failure: limit.signal.aborted ? limit.signal.reason : failure };
  } finally {
    limit.release();
  }
}

/** `AbortSignal.any` would do, but the first releases of Node 20 do not have it. */
function limitedSignal(signal: AbortSignal | undefined, limitMs: number) {
  const controller = new AbortController();
  const abort = () => controller.abort(signal?.reason);
  const timer = setTimeout(
    () => controller.abort(new Error(`no reply within ${limitMs / 1000} s`)),
    limitMs,
  );
  if (signal?.aborted) abort();
  signal?.addEventListener('abort', abort, { once: true });
  return {
    signal: controller.signal,
    release() {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
    },
  };
}

type HeaderFacts = {
  bearer: string | undefined;
  key: string | undefined;
  hasBody: boolean;
  ifMatch: string | undefined;
};

function headersOf({ bearer, key, hasBody, ifMatch }: HeaderFacts): Record<string, string> {
  return {
    accept: 'application/json',
    ...(hasBody ? { 'content-type': 'application/json' } : {}),
    ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
    ...(key === undefined ? {} : { 'idempotency-key': key }),
    ...(ifMatch === undefined ? {} : { 'if-match': ifMatch }),
  };
}

function readBody(reply: ReceivedReply, name: { method: string; path: string }): unknown {
  const body = parseJson(reply.text);
  if (body === undefined) throw new ApiError(reply, name);
  return body;
}

/** Browsers have `crypto.randomUUID` only on HTTPS pages; a console may be served without TLS. */
function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
