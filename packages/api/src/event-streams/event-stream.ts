import type { StreamEventRow, StreamPosition } from '@gantry/db/queries/operations/stream-events';
import { formatStreamId, type StreamId } from './stream-id.ts';

/** How much of a stream may wait for its reader. Then the stream waits, and continues from the database. */
const MAX_UNREAD_BYTES = 262_144;
/** Clients reconnect after a random time in this range, so that they do not all return together. */
const RECONNECT_MS = { min: 1_000, max: 3_000 };

/** Why the server ends a stream. */
export type StreamEnd = 'stopping' | 'rights_ended';

const encoder = new TextEncoder();

type StreamOptions = {
  /** The project whose events it has; null: those of all projects and of hosts, for operators. */
  projectId: string | null;
  /** The last event that the client has; null: it wants what happens from now on. */
  resumeFrom: StreamId | null;
  /** Closes the connection without waiting for the client. */
  disconnect: () => void;
  onClose: () => void;
};

/** The stream of one client, as the body of a reply. */
export class EventStream {
  readonly projectId: string | null;
  readonly body: ReadableStream<Uint8Array>;
  /** Where the stream is to begin, until the feed has decided about it. */
  resumeFrom: StreamId | null;
  /** Every event up to here was sent. */
  position: StreamPosition = { xid: 0n, number: 0n };
  #era = '';
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #hadRoomAtMs = performance.now();
  readonly #disconnect: () => void;
  readonly #onClose: () => void;

  constructor({ projectId, resumeFrom, disconnect, onClose }: StreamOptions) {
    this.projectId = projectId;
    this.resumeFrom = resumeFrom;
    this.#disconnect = disconnect;
    this.#onClose = onClose;
    this.body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        // It is called while there is room, and when a full stream is read.
        pull: () => {
          this.#hadRoomAtMs = performance.now();
        },
        cancel: () => this.#forget(),
      },
      { highWaterMark: MAX_UNREAD_BYTES, size: (chunk) => chunk?.byteLength ?? 0 },
    );
    const spread = RECONNECT_MS.max - RECONNECT_MS.min;
    this.#write(`retry: ${Math.round(RECONNECT_MS.min + Math.random() * spread)}\n\n`);
  }

  /** Starts the stream at a position. The client reads the state of its resources now. */
  begin(type: 'ready' | 'reset', { era, position }: StreamId): void {
    this.continueFrom({ era, position });
    this.#write(`id: ${formatStreamId(era, position)}\nevent: ${type}\ndata: {}\n\n`);
  }

  /** Continues the stream after what its client has. */
  continueFrom({ era, position }: StreamId): void {
    this.resumeFrom = null;
    this.#era = era;
    this.position = position;
  }

  get hasRoom(): boolean {
    return (this.#controller?.desiredSize ?? 0) > 0;
  }

  /** Sends an event. Returns false and sends nothing if the client has too much to read already. */
  send(event: RenderedEvent): boolean {
    if (!this.hasRoom) return false;
    this.#controller?.enqueue(event.bytes);
    this.position = event.position;
    return true;
  }

  /** Everything up to here was sent, or does not concern this stream. */
  reach(position: StreamPosition): void {
    this.position = position;
  }

  /** Keeps the connection open, and lets the client continue here if it has to reconnect. */
  beat(): void {
    const isBegun = this.resumeFrom === null && this.#era !== '';
    this.#write(
      isBegun
        ? `: heartbeat\nid: ${formatStreamId(this.#era, this.position)}\n\n`
        : ': heartbeat\n\n',
    );
  }

  /** Whether the client has too much to read, and has read nothing for so long. */
  isStalled(ms: number): boolean {
    return !this.hasRoom && performance.now() - this.#hadRoomAtMs > ms;
  }

  /** Tells the client why, and closes the stream. A client that does not read is disconnected. */
  end(reason: StreamEnd): void {
    if (!this.#controller) return;
    this.#write(`event: end\ndata: ${JSON.stringify({ reason })}\n\n`);
    this.#controller.close();
    this.#forget();
    setTimeout(this.#disconnect, 1_000).unref();
  }

  /** Closes the connection. What the client has not read is dropped. */
  cutOff(): void {
    if (!this.#controller) return;
    this.#forget();
    this.#disconnect();
  }

  #write(text: string): void {
    this.#controller?.enqueue(encoder.encode(text));
  }

  #forget(): void {
    this.#controller = undefined;
    this.#onClose();
  }
}

/** An event as clients receive it. It is rendered once for all streams of a project, and once for operators. */
export type RenderedEvent = { position: StreamPosition; bytes: Uint8Array };

export function renderEvent(
  era: string,
  event: StreamEventRow,
  options: { forOperators: boolean },
): RenderedEvent {
  const { position, type } = event;
  const json = JSON.stringify(eventData(event, options));
  const text = `id: ${formatStreamId(era, position)}\nevent: ${type}\ndata: ${json}\n\n`;
  return { position, bytes: encoder.encode(text) };
}

/** What streams and webhooks send about an event. */
export function eventData(
  { projectId, data, createdAt }: StreamEventRow,
  { forOperators }: { forOperators: boolean },
): object {
  const owner = forOperators ? { project_id: projectId ?? '' } : {};
  return { ...owner, ...data, created_at: createdAt.toISOString() };
}
