import { readFile, rm, writeFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { unlessMissing } from '@gantry/daemon/durable-file';

const POLL_MS = 20;
/** A holder refreshes tokens at most, which the SDK ends after a minute. */
const PATIENCE_MS = 90_000;

/**
 * Runs the work while no other process runs any with the same lock. The lock is a file with the
 * process id of its holder. The lock of a process that was killed is removed by the next one, inside a
 * second lock: otherwise two processes could find the same dead holder, and the slower one would
 * remove the lock that the faster one has taken since.
 */
export async function withFileLock<T>(file: string, work: () => Promise<T>): Promise<T> {
  const deadline = Date.now() + PATIENCE_MS;
  while (!(await take(file))) {
    if (await isAbandoned(file)) await removeAbandoned(file);
    else if (Date.now() > deadline)
      throw new Error(`${file} is held by another process. Remove it if there is none.`);
    else await pause(POLL_MS);
  }
  try {
    return await work();
  } finally {
    await rm(file, { force: true });
  }
}

async function take(file: string): Promise<boolean> {
  try {
    await writeFile(file, String(process.pid), { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

async function removeAbandoned(file: string): Promise<void> {
  const breaking = `${file}.break`;
  if (!(await take(breaking))) return void (await pause(POLL_MS));
  try {
    if (await isAbandoned(file)) await rm(file, { force: true });
  } finally {
    await rm(breaking, { force: true });
  }
}

async function isAbandoned(file: string): Promise<boolean> {
  const holder = await unlessMissing(readFile(file, 'utf8'));
  // An empty file was created a moment ago, and its holder is about to write its id.
  return holder !== undefined && /^\d+$/.test(holder) && !isRunning(Number(holder));
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: the process belongs to another user.
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}
