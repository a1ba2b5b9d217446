/**
 * One trace per operation. The ids of a trace follow from the id of its operation, so the api, the scheduler
 * and the agent add spans to the same trace without passing a context to each other or storing one. The
 * process that ends the operation records its first span, which is the parent of all others.
 *
 * A process without an exporter has no tracer, and `tracer?.record(…)` then evaluates nothing.
 */
export type SpanContext = { traceId: string; spanId: string };

export type Attributes = Readonly<Record<string, string | number | boolean | null | undefined>>;

export type Span = {
  /** UUID. */
  operationId: string;
  name: string;
  startMs: number;
  endMs: number;
  /** Whether it is the span of a request from outside. */
  isRequest?: boolean;
  /** Whether it is the operation itself, from its request to its end. */
  isOperation?: boolean;
  /** The default is a new one. */
  spanId?: string;
  /** The default is the span of the operation. */
  parentId?: string;
  /** Attributes without a value are left out. */
  attributes?: Attributes;
  /** Why it failed. */
  error?: string | undefined;
  /** A span of another trace that caused this one. */
  link?: SpanContext | undefined;
};

export type Tracer = {
  record(span: Span): void;
  /** Sends what was recorded. Waits for a short time only. */
  stop(): Promise<void>;
};

/** A trace id has 16 bytes, as a UUID has. */
export function traceIdOf(operationId: string): string {
  return operationId.replaceAll('-', '').toLowerCase();
}

/** The last 8 bytes of a UUID are never all zero, which would be no valid span id. */
export function operationSpanIdOf(operationId: string): string {
  return traceIdOf(operationId).slice(16);
}

const TRACE_PARENT = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?$/;
const ONLY_ZEROS = /^0+$/;

/** Parses the header `traceparent` of W3C Trace Context. Returns undefined if it is absent or malformed. */
export function parseTraceParent(header: string | undefined): SpanContext | undefined {
  const [, traceId = '', spanId = ''] = TRACE_PARENT.exec(header ?? '') ?? [];
  const isValid = traceId !== '' && !ONLY_ZEROS.test(traceId) && !ONLY_ZEROS.test(spanId);
  return isValid && !header?.startsWith('ff') ? { traceId, spanId } : undefined;
}
