import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

/**
 * Returns a string that identifies this process and no later one. A process id alone is not enough,
 * because the kernel reuses ids, especially after a reboot; the id with the start time is unique.
 * Returns undefined for a zombie: it holds no resources, and it stays listed for ever if no init
 * process reaps orphans.
 */
export async function identifyProcess(pid: number): Promise<string | undefined> {
  if (process.platform !== 'linux') return (await ps(pid, 'lstart=')) || undefined;
  const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => undefined);
  if (stat === undefined) return undefined;
  // The second field is the program's name in parentheses. It may contain spaces and ")".
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state, startTicks] = [fields[0], fields[19]];
  if (state === 'Z' || state === 'X' || startTicks === undefined) return undefined;
  const boot = await readFile('/proc/sys/kernel/random/boot_id', 'latin1');
  return `${boot.trim()}:${startTicks}`;
}

/** The arguments of a process. Every user may read them, unlike its working directory. */
export async function readArguments(pid: number): Promise<string[]> {
  if (process.platform !== 'linux') return (await ps(pid, 'command=')).split(/\s+/);
  const raw = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  return raw.split('\0').filter((argument) => argument !== '');
}

async function ps(pid: number, column: string): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)('ps', ['-o', `stat=,${column}`, '-p', `${pid}`]);
    const [, state, rest] = /^\s*(\S+)\s+(.*)$/m.exec(stdout) ?? [];
    return state === undefined || state.startsWith('Z') ? '' : (rest ?? '').trim();
  } catch {
    return '';
  }
}

/** Returns false if the process does not exist any more. */
export function sendSignal(pid: number, signal: NodeJS.Signals): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch {
    return false;
  }
}

/** Whether the kernel lists the process, including zombies. PostgreSQL makes the same check. */
export function isListed(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
