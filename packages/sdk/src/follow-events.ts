import { ApiError, ConnectionError, parseJson, type ReceivedReply } from './errors.ts';
import { eventParser } from './event-text.ts';
import { pause, retryDelayMs } from './retry.ts';
import type { Sender } from './send.ts';

/**
 * An event of the stream that docs/contract/events.md describes. The type `ready` or `reset` says that
 * resources must be read now. Ignore types and members that you do not know.
 */
export type StreamedEvent = { id: string; type: string; data: Record<string, unknown> };

export type FollowOptions = {
  /** Ends the stream: its reason is thrown. */
  signal?: AbortSignal | undefined;
  /** Continue after this event instead of now. */
  lastEventId?: string | undefined;
};

/** The server sends something every 15 seconds. */
const SILENCE_MS = 60_000;

/**
 * Yields the events of a stream in order, each once. A lost connection is opened again where it was,
 * for as long as it takes; only the first one must succeed within the limits of the sender. Throws an
 * ApiError if the server refuses the stream.
 */
export async function* followEvents(
  sender: Sender,
  url: string,
  { signal, lastEventId }: FollowOptions,
): AsyncGenerator<StreamedEvent, void> {
  const { bearers, limits } = sender;
  const name = { method: 'GET', path: new URL(url, 'http://relative').pathname };
  let id = lastEventId;
  let wasOpen = false;
  let bearer = await bearers?.bearer();
  let mayRenew = true;
  for (let attempt = 1; ; attempt += 1) {
    const connection = await open(sender, { url, bearer, id, signal });
    if ('chunks' in connection) {
      wasOpen = true;
      mayRenew = true;
      attempt = 1;
      for await (const event of eventsOf(connection.chunks)) {
        id = event.id ?? id;
        const data = event.data === undefined ? undefined : parseJson(event.data);
        if (data instanceof Object) yield { id: id ?? '', type: event.type, data: { ...data } };
      }
    }
    if (signal?.aborted) throw signal.reason;
    const reply = 'reply' in connection ? connection.reply : undefined;
    if (reply?.status === 401 && mayRenew && bearer !== undefined) {
      mayRenew = false;
      bearer = await bearers?.renew(bearer);
      if (bearer === undefined) throw new ApiError(reply, name);
      continue;
    }
    const counted = wasOpen ? Math.min(attempt, limits.attempts - 1) : attempt;
    const delayMs = retryDelayMs({ attempt: counted, reply, isRepeatable: true }, limits);
    if (delayMs !== undefined) await pause(delayMs, signal);
    else if (reply) throw new ApiError(reply, name);
    else {
      const cause = 'failure' in connection ? connection.failure : undefined;
      throw new ConnectionError(name, { attempts: attempt, cause, idempotencyKey: undefined });
    }
  }
}

type Connection =
  | { chunks: AsyncIterable<string> }
  | { reply: ReceivedReply }
  | { failure: unknown };
type Opening = {
  url: string;
  bearer: string | undefined;
  id: string | undefined;
  signal: AbortSignal | undefined;
};

async function open({ fetch }: Sender, { url, bearer, id, signal }: Opening): Promise<Connection> {
  const controller = new AbortController();
  const abort = () => controller.abort(signal?.reason);
  const isSilent = () => controller.abort(new Error(`nothing arrived for ${SILENCE_MS / 1000} s`));
  let timer = setTimeout(isSilent, SILENCE_MS);
  const release = () => {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  };
  if (signal?.aborted) abort();
  signal?.addEventListener('abort', abort, { once: true });
  try {
    const response = await fetch(url, {
      headers: {
        accept: 'text/event-stream',
        ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
        ...(id === undefined ? {} : { 'last-event-id': id }),
      },
      ...{ signal: controller.signal, redirect: 'manual' },
    });
    const { status, headers, body } = response;
    const isStream = headers.get('content-type')?.startsWith('text/event-stream');
    if (status !== 200 || !isStream || body === null) {
      const reply = { status, headers, text: await response.text() };
      release();
      return { reply };
    }
    const onChunk = () => {
      clearTimeout(timer);
      timer = setTimeout(isSilent, SILENCE_MS);
    };
    const cancel = () => {
      release();
      controller.abort();
    };
    return { chunks: textOf(body, { onChunk, cancel }) };
  } catch (failure) {
    release();
    return { failure };
  }
}

type Hooks = { onChunk(): void; cancel(): void };

/** Ends when the connection does, for whatever reason: the caller opens another one. */
async function* textOf(body: ReadableStream<Uint8Array>, { onChunk, cancel }: Hooks) {
  const decoder = new TextDecoder();
  const reader = body.getReader();
  try {
    for (;;) {
      const { value, done } = await reader.read().catch(() => ({ value: undefined, done: true }));
      if (done) return;
      onChunk();
      yield decoder.decode(value, { stream: true });
    }
  } finally {
    cancel();
  }
}

async function* eventsOf(chunks: AsyncIterable<string>) {
  const parse = eventParser();
  for await (const chunk of chunks) yield* parse(chunk);
}
