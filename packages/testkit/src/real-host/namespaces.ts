import { existsSync } from 'node:fs';
import { readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { execute } from './execute.ts';

/**
 * Network namespaces and directories of one test process, with its pid in their names. They remain
 * if the process is killed; the next process removes those whose process is gone.
 */
const OWNED = /^gantry-(\d+)-/;

export function ownName(name: string): string {
  return `gantry-${process.pid}-${name}`;
}

export async function addNamespace(namespace: string): Promise<void> {
  await execute('ip', 'netns', 'add', namespace);
  await execute('ip', '-n', namespace, 'link', 'set', 'lo', 'up');
}

/** Ends all processes of the namespace. A namespace that does not exist counts as removed. */
export async function removeNamespace(namespace: string): Promise<void> {
  try {
    for (const pid of (await execute('ip', 'netns', 'pids', namespace)).split('\n')) {
      if (pid !== '') killIfThere(Number(pid));
    }
    await execute('ip', 'netns', 'del', namespace);
  } catch (error) {
    if ((await listNamespaces()).includes(namespace)) throw error;
  }
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // The process has ended by itself.
  }
}

export async function listNamespaces(): Promise<string[]> {
  return readdir('/run/netns').catch(() => []);
}

export async function removeAbandoned(): Promise<void> {
  for (const namespace of (await listNamespaces()).filter(isAbandoned)) {
    await removeNamespace(namespace);
  }
  for (const name of (await readdir(tmpdir())).filter(isAbandoned)) {
    const directory = path.join(tmpdir(), name);
    await unmountBelow(directory);
    await rm(directory, { recursive: true, force: true });
  }
}

/** Otherwise the removal of the directory would fail, and remove what is mounted there. */
async function unmountBelow(directory: string): Promise<void> {
  const mounts = (await readFile('/proc/self/mountinfo', 'utf8')).split('\n');
  const points = mounts.map((line) => line.split(' ')[4] ?? '');
  for (const point of points.filter((each) => each.startsWith(`${directory}/`)).reverse()) {
    // Another test may have unmounted it meanwhile.
    await execute('umount', '--lazy', point).catch(() => '');
  }
}

function isAbandoned(name: string): boolean {
  const pid = OWNED.exec(name)?.[1];
  return pid !== undefined && !existsSync(`/proc/${pid}`);
}
