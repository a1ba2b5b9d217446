import { access, open, readdir, readFile, readlink } from 'node:fs/promises';
import { basename, join } from 'node:path';

/**
 * What the kernel answers for an attribute that has no value now: the file is not there, the device
 * has gone, or its driver does not know (a network link that is down has no speed, for one).
 */
const NO_VALUE = new Set(['ENOENT', 'ENOTDIR', 'ENODEV', 'ENXIO', 'EINVAL', 'EOPNOTSUPP']);

/** Made once: to make it costs a hundred times what a comparison does. */
const NUMERIC_ORDER = new Intl.Collator('en', { numeric: true });

/** Reads below one directory, `/sys` on a host. What has no value is undefined or empty. */
export class Sysfs {
  readonly #root: string;

  constructor(root: string) {
    this.#root = root;
  }

  /** An attribute without the white space around it. */
  async text(path: string): Promise<string | undefined> {
    const value = await orUndefined(readFile(join(this.#root, path), 'utf8'));
    return value?.trim();
  }

  /** A decimal attribute. */
  async integer(path: string): Promise<number | undefined> {
    const value = await this.text(path);
    return value !== undefined && /^-?\d+$/.test(value) ? Number(value) : undefined;
  }

  /** Whether there is anything, whoever may read it. */
  async exists(path: string): Promise<boolean> {
    const found = await orUndefined(access(join(this.#root, path)).then(() => true));
    return found ?? false;
  }

  /** The first bytes of an attribute that is no text; fewer where it is shorter. */
  async bytes(path: string, length: number): Promise<Buffer | undefined> {
    return orUndefined(readStart(join(this.#root, path), length));
  }

  /** Names in a directory, in numeric order where they hold numbers. */
  async list(path: string): Promise<string[]> {
    const names = await orUndefined(readdir(join(this.#root, path)));
    return (names ?? []).sort(NUMERIC_ORDER.compare);
  }

  /** The last part of where a link points: how sysfs names a driver, a group, a parent device. */
  async linkName(path: string): Promise<string | undefined> {
    const target = await this.linkTarget(path);
    return target === undefined ? undefined : basename(target);
  }

  /** Where a link points, as it is written there. */
  async linkTarget(path: string): Promise<string | undefined> {
    return orUndefined(readlink(join(this.#root, path)));
  }
}

async function readStart(path: string, length: number): Promise<Buffer> {
  const file = await open(path, 'r');
  try {
    const buffer = Buffer.alloc(length);
    const { bytesRead } = await file.read(buffer, 0, length, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

async function orUndefined<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof Error && 'code' in error && NO_VALUE.has(String(error.code))) {
      return undefined;
    }
    throw error;
  }
}
