import { write, writeSync } from 'node:fs';

const BUFFER_BYTES = 16_000;
/** If the reader is this far behind, new lines are dropped. */
const MAX_WAITING = 4_000_000;
const FLUSH_MS = 1_000;
/** How long a full pipe is waited for, each time and when the process exits. */
const FULL_PIPE_MS = 20;
const EXIT_LIMIT_MS = 1_000;

const NOTHING = Buffer.alloc(0);

/**
 * Writes lines to a file descriptor in batches, within a second. What is left is written when the
 * process exits. If the reader of a pipe is gone, all further lines are dropped. A batch that a full
 * disk does not take is dropped, too, and later lines are written again.
 *
 * This is not pino's own destination: it retries a write to a broken pipe for ever when the process
 * exits, so that the child of a killed launcher would stay behind.
 */
export class BufferedOutput {
  readonly #fd: number;
  #lines = '';
  /** The rest of a batch that a full pipe does not take yet. It comes before the lines. */
  #rest: Buffer = NOTHING;
  #isWriting = false;
  #isBroken = false;
  #timer: NodeJS.Timeout | null = null;

  constructor(fd: number) {
    this.#fd = fd;
    process.once('exit', () => this.flushSync());
  }

  write(line: string): void {
    if (this.#isBroken || this.#lines.length > MAX_WAITING) return;
    this.#lines += line;
    if (this.#lines.length >= BUFFER_BYTES) this.#flush();
    else this.#flushLater(FLUSH_MS);
  }

  /** Writes everything that waits. Gives up if the reader is gone or does not read in time. */
  flushSync(): void {
    let rest = Buffer.concat([this.#rest, Buffer.from(this.#lines)]);
    this.#rest = NOTHING;
    this.#lines = '';
    const endMs = performance.now() + EXIT_LIMIT_MS;
    while (rest.length > 0 && performance.now() < endMs) {
      try {
        rest = rest.subarray(writeSync(this.#fd, rest));
      } catch (error) {
        if (!isFull(error)) return;
        pause(FULL_PIPE_MS);
      }
    }
  }

  #flushLater(delayMs: number): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      this.#flush();
    }, delayMs);
    this.#timer.unref();
  }

  #flush(): void {
    if (this.#isWriting || this.#lines === '') return;
    const batch = Buffer.from(this.#lines);
    this.#lines = '';
    this.#isWriting = true;
    this.#write(batch);
  }

  #write(batch: Buffer): void {
    write(this.#fd, batch, (error, written) => {
      if (error && isFull(error)) {
        this.#rest = batch;
        setTimeout(() => this.#writeRest(), FULL_PIPE_MS).unref();
        return;
      }
      if (error?.code === 'EPIPE') this.#break();
      if (!error && written < batch.length) this.#write(batch.subarray(written));
      else {
        this.#isWriting = false;
        if (this.#lines.length >= BUFFER_BYTES) this.#flush();
        else if (this.#lines !== '') this.#flushLater(FLUSH_MS);
      }
    });
  }

  #writeRest(): void {
    const rest = this.#rest;
    this.#rest = NOTHING;
    this.#write(rest);
  }

  #break(): void {
    this.#isBroken = true;
    this.#lines = '';
  }
}

/** Timers do not run while the process exits. */
function pause(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

function isFull(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'EAGAIN' || code === 'EBUSY';
}
