import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import type { RunProgram } from '../../../base/run-program.ts';

type Namespace = { path: string; sizeBytes: number };

/** A multiple of the block size of every drive. */
const PLACE_BYTES = 64 * 1024;
const PLACES = 32;

/**
 * Random bytes that are written to many places of a namespace before it is erased. A place that
 * still has them afterwards was not erased, regardless of the drive's status. A sample of the
 * tenant's data would not do, because the tenant may have left none.
 */
export class Canary {
  readonly #run: RunProgram;
  readonly #bytes = randomBytes(PLACE_BYTES);

  constructor(run: RunProgram) {
    this.#run = run;
  }

  async write(namespace: Namespace): Promise<void> {
    const file = await open(namespace.path, constants.O_WRONLY | constants.O_EXCL);
    try {
      for (const at of placesOf(namespace)) await file.write(this.#bytes, 0, PLACE_BYTES, at);
      await file.sync();
    } finally {
      await file.close();
    }
    await this.#forget(namespace);
  }

  /**
   * Returns where the bytes are still found, and whether the rest of these places reads as zeros.
   */
  async look(namespace: Namespace): Promise<{ foundAt: number[]; isZero: boolean }> {
    await this.#forget(namespace);
    const foundAt: number[] = [];
    let isZero = true;
    const file = await open(namespace.path, 'r');
    try {
      for (const at of placesOf(namespace)) {
        const place = await readPlace(file, at);
        if (this.#isIn(place)) foundAt.push(at);
        isZero &&= place.every((byte) => byte === 0);
      }
    } finally {
      await file.close();
    }
    return { foundAt, isZero };
  }

  /** Looks for any block: a drive may have erased one block and not the next. */
  #isIn(place: Buffer): boolean {
    const block = 512;
    for (let at = 0; at < PLACE_BYTES; at += block) {
      if (place.subarray(at, at + block).equals(this.#bytes.subarray(at, at + block))) return true;
    }
    return false;
  }

  /**
   * Without O_DIRECT the host's cache would return what it holds instead of the drive's content.
   */
  async #forget({ path }: Namespace): Promise<void> {
    await this.#run('blockdev', ['--flushbufs', path]);
  }
}

/** The first place, the last place, and others between them at equal distances. */
function placesOf({ sizeBytes }: Namespace): number[] {
  const last = Math.floor(sizeBytes / PLACE_BYTES) - 1;
  if (last < 0) return [];
  const places = Array.from({ length: PLACES }, (_, index) =>
    Math.floor((index * last) / (PLACES - 1)),
  );
  return [...new Set(places)].map((place) => place * PLACE_BYTES);
}

async function readPlace(file: FileHandle, at: number): Promise<Buffer> {
  const { buffer } = await file.read(Buffer.alloc(PLACE_BYTES), 0, PLACE_BYTES, at);
  return buffer;
}
