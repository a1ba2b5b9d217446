import type { Schemas } from './operation.ts';

/** A code of the contract. A newer server may have codes that this SDK does not know. */
export type ErrorCode = Schemas['Error']['code'] | 'unexpected_reply' | (string & {});

/** A field of the request that the server refused, and why. */
export type FieldError = { field: string; reason: string };

export type RequestName = { method: string; path: string };

/**
 * The server refused the request. `message` is the server's own message, written for people. A reply
 * that is not one of Gantry's, such as the page of a proxy, has the code `unexpected_reply`.
 */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  readonly code: ErrorCode;
  /** Identifies the request in the logs of the installation; empty if the reply has none. */
  readonly requestId: string;
  readonly details: unknown;
  /** The refused fields; empty unless the code is `bad_request`. */
  readonly fields: readonly FieldError[];
  /** How long the server asks to wait before the next request. */
  readonly retryAfterMs: number | undefined;
  readonly request: RequestName;

  constructor(reply: ReceivedReply, request: RequestName) {
    const body = readErrorBody(reply.text);
    super(body?.message ?? unexpectedMessage(reply, request));
    this.status = reply.status;
    this.code = body?.code ?? 'unexpected_reply';
    this.requestId = body?.error_id ?? reply.headers.get('x-request-id') ?? '';
    this.details = body?.details;
    this.fields = Array.isArray(body?.details) ? body.details.filter(isFieldError) : [];
    this.retryAfterMs = readRetryAfterMs(reply.headers.get('retry-after'));
    this.request = request;
  }

  /** The first refused field. */
  get field(): string | undefined {
    return this.fields[0]?.field;
  }
}

/** A reply whose body has arrived completely. */
export type ReceivedReply = { status: number; headers: Headers; text: string };

/**
 * No complete reply arrived, even after the retries. `mayHaveHappened` is true for a write: its
 * request may have reached the server. Repeat it with the same `idempotencyKey`.
 */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';
  readonly request: RequestName;
  readonly attempts: number;
  readonly mayHaveHappened: boolean;
  readonly idempotencyKey: string | undefined;

  constructor(
    request: RequestName,
    failure: { attempts: number; cause: unknown; idempotencyKey: string | undefined },
  ) {
    const reason = reasonOf(failure.cause);
    const times = failure.attempts === 1 ? '1 attempt' : `${failure.attempts} attempts`;
    super(`${request.method} ${request.path} got no reply after ${times}: ${reason}`, {
      cause: failure.cause,
    });
    this.request = request;
    this.attempts = failure.attempts;
    this.mayHaveHappened = request.method !== 'GET';
    this.idempotencyKey = failure.idempotencyKey;
  }
}

/** The operation ended without success. `message` is the server's own message. */
export class OperationFailedError extends Error {
  override readonly name = 'OperationFailedError';
  /** Why it failed, such as `out_of_stock`. Treat an unknown code like `host_failed`. */
  readonly code: string;
  readonly details: unknown;
  readonly operation: Schemas['Operation'];

  constructor(operation: Schemas['Operation']) {
    const { code, message, details } = (operation.result ?? {}) as Record<string, unknown>;
    const { operation_name: name, type, id } = operation.metadata;
    super(typeof message === 'string' ? message : `${name} of the ${type} ${id} failed`);
    this.code = typeof code === 'string' ? code : 'internal_error';
    this.details = details;
    this.operation = operation;
  }
}

/** Retry-After has a number of seconds or a date. */
export function readRetryAfterMs(header: string | null, now = Date.now()): number | undefined {
  if (header === null) return undefined;
  if (/^\d+$/.test(header)) return Number(header) * 1000;
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

function readErrorBody(text: string): Schemas['Error'] | undefined {
  const body = parseJson(text) as Partial<Schemas['Error']> | null | undefined;
  const isError = typeof body?.code === 'string' && typeof body.message === 'string';
  return isError ? (body as Schemas['Error']) : undefined;
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isFieldError(value: unknown): value is FieldError {
  return typeof (value as FieldError | null)?.field === 'string';
}

function unexpectedMessage({ status }: ReceivedReply, { method, path }: RequestName): string {
  const advice = 'check that the base URL is the address of a Gantry API';
  return `the reply to ${method} ${path} has status ${status} and is not one of Gantry's: ${advice}`;
}

/** `fetch` throws "fetch failed" and names the reason in the cause. */
function reasonOf(error: unknown): string {
  const { message, cause } = error as { message?: string; cause?: { message?: string } };
  return cause?.message || message || String(error);
}
