import type { Duplex } from 'node:stream';
import type { ConsoleBytes__Output } from '@gantry/proto/generated/gantry/v1/ConsoleBytes';
import type { ConsoleStream } from '../link/link.ts';

/** So that what waits on the way, which is counted in messages, is small in bytes too. */
const MESSAGE_BYTES = 16_384;

/**
 * A guest's serial line and all who look at it. Everyone sees everything and may type. Nothing is
 * kept here: while one of them does not take more, the line is not read, and what a guest prints
 * meanwhile is for its host to keep or drop. Whoever stops reading for good is cut off by the api.
 */
export class GuestConsole {
  readonly #line: Duplex;
  readonly #onEnd: () => void;
  readonly #viewers = new Set<ConsoleStream>();
  readonly #behind = new Set<ConsoleStream>();
  /** Why there is no line any more. */
  #ended: string | null = null;

  constructor(line: Duplex, onEnd: () => void) {
    this.#line = line;
    this.#onEnd = onEnd;
    line.on('data', (bytes: Buffer) => this.#show(bytes));
    line.once('end', () => this.#end('vm_stopped'));
    for (const lost of ['error', 'close']) line.on(lost, () => this.#end('host_failed'));
  }

  /** The tail is what it printed before. */
  add(viewer: ConsoleStream, tail: string): void {
    if (viewer.destroyed) {
      this.#closeUnwatched();
      return;
    }
    this.#viewers.add(viewer);
    // A call that broke while nobody read it has an error, and no end.
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
