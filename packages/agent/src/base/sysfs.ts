import { access, open, readdir, readFile, readlink } from 'node:fs/promises';
import { basename, join } from 'node:path';

/**
 * The kernel's errors for an attribute without a value: the file does not exist, the device is
 * gone, or the driver does not know the value (a network link that is down has no speed).
 */
const NO_VALUE = new Set(['ENOENT', 'ENOTDIR', 'ENODEV', 'ENXIO', 'EINVAL', 'EOPNOTSUPP']);

/** Created once: creating a collator costs a hundred times as much as a comparison. */
const NUMERIC_ORDER = new Intl.Collator('en', { numeric: true });

/** Reads below one directory, `/sys` on a host. A missing value is undefined or empty. */
export class Sysfs {
  readonly #root: string;

  constructor(root: string) {
    this.#root = root;
  }

  /** Returns the path of a file or directory for other programs. */
  path(path: string): string {
    return join(this.#root, path);
  }

  /** Returns the text of an attribute without surrounding white space. */
  async text(path: string): Promise<string | undefined> {
    const value = await orUndefined(readFile(join(this.#root, path), 'utf8'));
    return value?.trim();
  }

  /** Returns a decimal attribute. */
  async integer(path: string): Promise<number | undefined> {
    const value = await this.text(path);
    return value !== undefined && /^-?\d+$/.test(value) ? Number(value) : undefined;
  }

  /** Returns whether the path exists, also if it cannot be read. */
  async exists(path: string): Promise<boolean> {
    const found = await orUndefined(access(join(this.#root, path)).then(() => true));
    return found ?? false;
  }

  /** Returns the first bytes of a binary attribute, or fewer if it is shorter. */
  async bytes(path: string, length: number): Promise<Buffer | undefined> {
    return orUndefined(readStart(join(this.#root, path), length));
  }

  /** Returns the names in a directory, sorted numerically if they contain numbers. */
  async list(path: string): Promise<string[]> {
    const names = await orUndefined(readdir(join(this.#root, path)));
    return (names ?? []).sort(NUMERIC_ORDER.compare);
  }

  /**
   * Returns the last component of a link's target. sysfs names drivers, groups and parents this
   * way.
   */
  async linkName(path: string): Promise<string | undefined> {
    const target = await this.linkTarget(path);
    return target === undefined ? undefined : basename(target);
  }

  /** Returns a link's target as it is written. */
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
