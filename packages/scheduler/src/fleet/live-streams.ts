import { status } from '@grpc/grpc-js';
import type { CallStatus } from './grpc-status.ts';
import type { LiveStream } from './host-stream.ts';

/** A timer can be at most 24.8 days long. An unneeded wake-up once a day costs nothing. */
const MAX_TIMER_MS = 86_400_000;

/** All streams of this process, including those still being admitted. One timer ends expired ones. */
export class LiveStreams {
  readonly #streams = new Set<LiveStream>();
  #timer: NodeJS.Timeout | undefined;
  #wakesAtMs = Number.POSITIVE_INFINITY;

  attachedCount(): number {
    let count = 0;
    for (const stream of this.#streams) if (stream.isOpen) count += 1;
    return count;
  }

  add(stream: LiveStream): void {
    this.#streams.add(stream);
    this.#wakeAt(stream.expiresAtMs);
  }

  delete(stream: LiveStream): void {
    this.#streams.delete(stream);
  }

  endRevoked(serials: ReadonlySet<string>): void {
    if (serials.size === 0) return;
    for (const stream of this.#streams) {
      if (serials.has(stream.certificateSerial)) {
        stream.end({ code: status.UNAUTHENTICATED, details: 'the certificate was revoked' });
      }
    }
  }

  endAll(ending: CallStatus): void {
    for (const stream of this.#streams) stream.end(ending);
  }

  #wakeAt(atMs: number): void {
    if (atMs >= this.#wakesAtMs) return;
    clearTimeout(this.#timer);
    this.#wakesAtMs = atMs;
    const delay = Math.max(0, Math.min(atMs - Date.now(), MAX_TIMER_MS));
    this.#timer = setTimeout(() => this.#endExpired(), delay);
    this.#timer.unref();
  }

  #endExpired(): void {
    const now = Date.now();
    let next = Number.POSITIVE_INFINITY;
    this.#wakesAtMs = next;
    for (const stream of this.#streams) {
      if (stream.expiresAtMs > now) next = Math.min(next, stream.expiresAtMs);
      else stream.end({ code: status.UNAUTHENTICATED, details: 'the certificate has expired' });
    }
    if (next !== Number.POSITIVE_INFINITY) this.#wakeAt(next);
  }
}
