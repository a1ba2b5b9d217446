import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

/**
 * Lets every write to a file fail, as a full disk does: the kernel refuses to write beyond the limit
 * of a file's size (EFBIG). The limit belongs to the processes and ends with them, so that a killed
 * test run leaves nothing behind. Node and PostgreSQL ignore the signal that comes with it. Returns
 * a function that removes the limit.
 */
export async function fillDisk(pid: number): Promise<() => Promise<void>> {
  await limitFiles(pid, '0:');
  return () => limitFiles(pid, 'unlimited:');
}

async function limitFiles(pid: number, limit: string): Promise<void> {
  for (const one of [pid, ...(await childrenOf(pid))])
    await promisify(execFile)('prlimit', [`--pid=${one}`, `--fsize=${limit}`]).catch(() => {
      // It has ended by now. A child that starts now inherits the limit.
    });
}

async function childrenOf(pid: number): Promise<number[]> {
  const pids = (await readdir('/proc')).map(Number).filter(Number.isInteger);
  const parents = await Promise.all(pids.map(async (one) => [one, await parentOf(one)]));
  return parents.filter(([, parent]) => parent === pid).map(([one]) => one ?? 0);
}

async function parentOf(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // The name of the program, in parentheses, may contain spaces.
  return Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[1]);
}
