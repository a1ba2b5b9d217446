import { randomBytes } from 'node:crypto';
import type { Log } from '../log.ts';
import { type Attributes, operationSpanIdOf, type Span, type Tracer, traceIdOf } from './tracer.ts';

/**
 * Sends spans to a collector with OTLP over HTTP, as JSON.
 *
 * Spans wait in memory and are sent in batches, one request at a time. While the collector does not accept
 * them, they are sent again, and the oldest are dropped if too many wait: traces never delay or fail the
 * work that they describe. A process that is killed loses the spans that it has not sent.
 */
type OtlpOptions = {
  url: string;
  headers: Record<string, string>;
  service: string;
  log: Log;
  everyMs?: number;
};

const EVERY_MS = 1_000;
const RETRY_MS = 5_000;
const BATCH_SPANS = 512;
const MAX_WAITING = 4_096;
const REQUEST_LIMIT_MS = 5_000;
const STOP_LIMIT_MS = 2_000;

/** The numbers that OTLP gives to kinds of spans and to failure. */
const INTERNAL = 1;
const SERVER = 2;
const FAILED = 2;

export function createOtlpTracer(options: OtlpOptions): Tracer {
  const { url, headers, service, log, everyMs = EVERY_MS } = options;
  let waiting: object[] = [];
  let timer: NodeJS.Timeout | null = null;
  let sending: Promise<void> | null = null;
  let isFailing = false;
  let dropped = 0;

  const post = async (spans: object[], limitMs: number): Promise<boolean> => {
    const signal = AbortSignal.timeout(limitMs);
    const body = JSON.stringify(toRequest(service, spans));
    const init = { method: 'POST', body, signal, redirect: 'error' as const };
    try {
      const reply = await fetch(url, {
        ...init,
        headers: { ...headers, 'content-type': 'application/json' },
      });
      await reply.arrayBuffer();
      if (reply.ok) isFailing = false;
      else noteFailure({ status: reply.status });
      // A collector that refuses the spans refuses them again.
      return reply.ok || (reply.status < 500 && reply.status !== 429);
    } catch (error) {
      noteFailure({ error });
      return false;
    }
  };

  const noteFailure = (facts: object) => {
    if (!isFailing) log.warn(facts, 'spans could not be sent');
    isFailing = true;
  };

  const send = async () => {
    const batch = waiting.slice(0, BATCH_SPANS);
    waiting = waiting.slice(BATCH_SPANS);
    if (await post(batch, REQUEST_LIMIT_MS)) return;
    waiting = [...batch, ...waiting];
    drop();
  };

  const drop = () => {
    if (waiting.length <= MAX_WAITING) return;
    if (dropped === 0) log.warn('spans dropped: the collector does not accept them fast enough');
    dropped += waiting.length - MAX_WAITING;
    waiting = waiting.slice(-MAX_WAITING);
  };

  const schedule = () => {
    if (timer || sending || waiting.length === 0) return;
    const start = () => {
      timer = null;
      sending = send().finally(() => {
        sending = null;
        schedule();
      });
    };
    timer = setTimeout(start, isFailing ? RETRY_MS : everyMs);
    // A process that has nothing else to do may end.
    timer.unref();
  };

  return {
    record(span) {
      waiting.push(toOtlp(span));
      drop();
      schedule();
    },
    async stop() {
      if (timer) clearTimeout(timer);
      await sending;
      if (timer) clearTimeout(timer);
      while (waiting.length > 0) {
        const batch = waiting.splice(0, BATCH_SPANS);
        if (!(await post(batch, STOP_LIMIT_MS))) return;
      }
    },
  };
}

function toRequest(service: string, spans: object[]): object {
  const resource = { attributes: toAttributes({ 'service.name': service }) };
  return { resourceSpans: [{ resource, scopeSpans: [{ scope: { name: 'gantry' }, spans }] }] };
}

function toOtlp(span: Span): object {
  const { operationId, name, startMs, endMs, isOperation = false, error, link } = span;
  const own = isOperation ? operationSpanIdOf(operationId) : randomBytes(8).toString('hex');
  const parent = isOperation ? '' : (span.parentId ?? operationSpanIdOf(operationId));
  return {
    traceId: traceIdOf(operationId),
    spanId: span.spanId ?? own,
    ...(parent ? { parentSpanId: parent } : {}),
    name,
    kind: span.isRequest ? SERVER : INTERNAL,
    startTimeUnixNano: nanoseconds(startMs),
    endTimeUnixNano: nanoseconds(Math.max(startMs, endMs)),
    attributes: toAttributes({ 'gantry.operation_id': operationId, ...span.attributes }),
    ...(link ? { links: [link] } : {}),
    ...(error === undefined ? {} : { status: { code: FAILED, message: error } }),
  };
}

/** As text, because it exceeds what a JavaScript number can hold. */
const nanoseconds = (ms: number) => String(BigInt(Math.round(ms * 1_000)) * 1_000n);

function toAttributes(attributes: Attributes): object[] {
  return Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined || value === null ? [] : [{ key, value: toValue(value) }],
  );
}

function toValue(value: string | number | boolean): object {
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value === 'string') return { stringValue: value };
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}
