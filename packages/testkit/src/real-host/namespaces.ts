import { existsSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
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
    await rm(path.join(tmpdir(), name), { recursive: true, force: true });
  }
}

function isAbandoned(name: string): boolean {
  const pid = OWNED.exec(name)?.[1];
  return pid !== undefined && !existsSync(`/proc/${pid}`);
}
