import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

/**
 * A process id alone names nobody: ids are used again, soon after a reboot above all. Together with
 * the time the process began it names one process for good. A zombie counts as gone: it holds
 * nothing any more, and where no init reaps orphans it stays listed for ever.
 */
export async function identifyProcess(pid: number): Promise<string | undefined> {
  if (process.platform !== 'linux') return (await ps(pid, 'lstart=')) || undefined;
  const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => undefined);
  if (stat === undefined) return undefined;
  // The second field is the program's name in parentheses, and may itself hold spaces and ")".
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state, startTicks] = [fields[0], fields[19]];
  if (state === 'Z' || state === 'X' || startTicks === undefined) return undefined;
  const boot = await readFile('/proc/sys/kernel/random/boot_id', 'latin1');
  return `${boot.trim()}:${startTicks}`;
}

/** The arguments a process was started with; readable for every user, unlike its directory. */
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

/** True when the signal was sent; false when there is no such process any more. */
export function sendSignal(pid: number, signal: NodeJS.Signals): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch {
    return false;
  }
}

/** Whether the kernel still lists the process, zombies included: what PostgreSQL itself looks at. */
export function isListed(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
