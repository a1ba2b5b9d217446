import { createRequire } from 'node:module';
import path from 'node:path';

/**
 * The oldest server that DATABASE_URL may name. The entry of its package is beside its directory of
 * files.
 */
export function postgres15Binaries(): string {
  const name = `postgres-15-${process.platform}-${process.arch}`;
  const entry = createRequire(import.meta.url).resolve(name);
  return path.resolve(path.dirname(entry), '../native');
}
