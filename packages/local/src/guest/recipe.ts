import { createHash } from 'node:crypto';
import { readdir, readFile, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { isListed } from '../processes/process-identity.ts';
import type { DebianPackage } from './package-list.ts';

/** Another process may still use an image that was the newest until now. */
const IN_USE_MS = 3_600_000;

/** The digest of an image's inputs: its packages and the source that assembles them. */
export async function recipeKey(
  packages: readonly DebianPackage[],
  sourceFiles: readonly string[],
): Promise<string> {
  const hash = createHash('sha256');
  for (const { file, sha256 } of packages) hash.update(`${file} ${sha256}\n`);
  for (const file of sourceFiles) {
    hash.update(`${path.basename(file)}\n`).update(await readFile(file));
  }
  return hash.digest('hex').slice(0, 16);
}

export async function filesBelow(folder: string): Promise<string[]> {
  const found = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = found.filter((entry) => entry.isFile());
  return files.map((entry) => path.join(entry.parentPath, entry.name)).sort();
}

/** Removes images of earlier versions, found by their prefix, and the folders of dead builds. */
export async function removeOld(directory: string, prefix: string): Promise<void> {
  for (const name of await readdir(directory)) {
    const place = path.join(directory, name);
    const [, builder] = /^building-(\d+)-/.exec(name) ?? [];
    const isAbandoned = builder !== undefined && !isListed(Number(builder));
    const isOld = name.startsWith(prefix) && Date.now() - (await stat(place)).mtimeMs > IN_USE_MS;
    if (isAbandoned || isOld) await rm(place, { recursive: true, force: true });
  }
}
