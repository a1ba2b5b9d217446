import { randomBytes } from 'node:crypto';
import { link, mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { errorCode, StartError } from '../base/start-error.ts';
import { identifyProcess } from '../processes/process-identity.ts';
import { type Home, readIfThere } from './home.ts';

/**
 * Allows one launcher per home. The lock is a directory of numbered files. Each file names the
 * process that created it. The process with the highest number holds the home while it is alive.
 *
 * A single lock file that is removed when it is stale has a race: two launchers find it stale, and
 * the slower one removes the file that the faster one has just created. Here no launcher removes a
 * file that it found stale. It creates the file with the next number, which only one launcher can
 * do, and then checks that no higher number exists. A holder that dies leaves its file behind. The
 * start time in the file shows that it is dead, even if another program has its process id now.
 */
type Holder = { pid: number; identity: string; base_url?: string };

export type HomeLock = { announce(baseUrl: string): Promise<void> };

export async function lockHome(home: Home): Promise<HomeLock> {
  const directory = home.file('launcher');
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const identity = await identifyProcess(process.pid);
  if (identity === undefined) throw new Error('BUG: this process cannot be identified');
  const self: Holder = { pid: process.pid, identity };

  for (;;) {
    const highest = Math.max(0, ...(await readNumbers(directory)));
    const holder = highest > 0 ? await readHolder(path.join(directory, `${highest}`)) : undefined;
    if (holder && (await identifyProcess(holder.pid)) === holder.identity) {
      throw inUse(home, holder);
    }
    const mine = highest + 1;
    if (!(await make(path.join(directory, `${mine}`), self))) continue;
    const numbers = await readNumbers(directory);
    const lost = numbers.some((number) => number > mine);
    const done = numbers.filter((number) => (lost ? number === mine : number < mine));
    for (const number of done) await rm(path.join(directory, `${number}`), { force: true });
    if (lost) continue;
    return {
      announce: (baseUrl) =>
        replace(path.join(directory, `${mine}`), { ...self, base_url: baseUrl }),
    };
  }
}

async function readNumbers(directory: string): Promise<number[]> {
  return (await readdir(directory)).filter((name) => /^\d+$/.test(name)).map(Number);
}

async function readHolder(file: string): Promise<Holder | undefined> {
  try {
    return JSON.parse((await readIfThere(file)) ?? '') as Holder;
  } catch {
    return undefined;
  }
}

/** A hard link appears with its whole content, and link() fails if the name is taken. */
async function make(file: string, holder: Holder): Promise<boolean> {
  const temporary = await writeTemporary(file, holder);
  try {
    await link(temporary, file);
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(temporary, { force: true });
  }
}

async function replace(file: string, holder: Holder): Promise<void> {
  await rename(await writeTemporary(file, holder), file);
}

async function writeTemporary(file: string, holder: Holder): Promise<string> {
  const temporary = `${file}.${randomBytes(6).toString('hex')}.tmp`;
  await writeFile(temporary, JSON.stringify(holder), { mode: 0o600, flag: 'wx' });
  return temporary;
}

function inUse(home: Home, holder: Holder): StartError {
  const where = holder.base_url ? `, at ${holder.base_url}` : ', still starting';
  return new StartError(
    `The home ${home.directory} is already in use by process ${holder.pid}${where}. ` +
      'Stop that process first, or set GANTRY_HOME to another directory.',
  );
}
