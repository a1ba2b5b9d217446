import type { Duplex } from 'node:stream';
import type { ConsoleBytes__Output } from '@gantry/proto/generated/gantry/v1/ConsoleBytes';
import type { ConsoleStream } from '../link/link.ts';

/** Keeps the buffered data small: the buffer is limited by the number of messages, not by bytes. */
const MESSAGE_BYTES = 16_384;

/**
 * A guest's serial line and its viewers. Every viewer sees all output and may type. Nothing is
 * buffered here: while one viewer is slow, the line is not read, and the host keeps or drops what
 * the guest prints. The API disconnects a viewer that stops reading.
 */
export class GuestConsole {
  readonly #line: Duplex;
  readonly #onEnd: () => void;
  readonly #viewers = new Set<ConsoleStream>();
  readonly #behind = new Set<ConsoleStream>();
  /** Set once the line has ended; says why. */
  #ended: string | null = null;

  constructor(line: Duplex, onEnd: () => void) {
    this.#line = line;
    this.#onEnd = onEnd;
    line.on('data', (bytes: Buffer) => this.#show(bytes));
    line.once('end', () => this.#end('vm_stopped'));
    for (const lost of ['error', 'close']) line.on(lost, () => this.#end('host_failed'));
  }

  /** Sends the viewer the tail of what the guest printed before. */
  add(viewer: ConsoleStream, tail: string): void {
    if (viewer.destroyed) {
      this.#closeUnwatched();
      return;
    }
    this.#viewers.add(viewer);
    // A broken call that nothing reads from emits an error and no end event.
    for (const gone of ['end', 'error', 'close']) viewer.once(gone, () => this.#remove(viewer));
    viewer.on('data', ({ data }: ConsoleBytes__Output) => {
      if (this.#ended !== null || this.#line.write(data)) return;
      viewer.pause();
      this.#line.once('drain', () => viewer.resume());
    });
    if (tail !== '') this.#send(viewer, Buffer.from(tail));
    if (this.#ended !== null) this.#dismiss(viewer, this.#ended);
  }

  #show(bytes: Buffer): void {
    for (const viewer of this.#viewers) this.#send(viewer, bytes);
  }

  #send(viewer: ConsoleStream, bytes: Buffer): void {
    let isFree = true;
    for (let at = 0; at < bytes.length; at += MESSAGE_BYTES) {
      isFree = viewer.write({ data: bytes.subarray(at, at + MESSAGE_BYTES) });
    }
    if (isFree || this.#behind.has(viewer)) return;
    this.#behind.add(viewer);
    this.#line.pause();
    viewer.once('drain', () => this.#caughtUp(viewer));
  }

  #caughtUp(viewer: ConsoleStream): void {
    if (this.#behind.delete(viewer) && this.#behind.size === 0) this.#line.resume();
  }

  #remove(viewer: ConsoleStream): void {
    if (!this.#viewers.delete(viewer)) return;
    viewer.end();
    this.#caughtUp(viewer);
    this.#closeUnwatched();
  }

  #closeUnwatched(): void {
    if (this.#viewers.size > 0) return;
    this.#end('host_failed');
    this.#line.destroy();
  }

  #end(why: string): void {
    if (this.#ended !== null) return;
    this.#ended = why;
    this.#onEnd();
    for (const viewer of this.#viewers) this.#dismiss(viewer, why);
  }

  #dismiss(viewer: ConsoleStream, why: string): void {
    this.#viewers.delete(viewer);
    viewer.end({ end: why });
  }
}
