/** The processes of a PID namespace, as /proc shows them from outside. */
import { readdir, readFile, readlink } from 'node:fs/promises';

export type NamespaceProcess = { pid: number; command: string[] };

/** Returns the process below `ancestor` that has pid 1 in its namespace. */
export async function findInit(ancestor: number): Promise<number> {
  for (const pid of await listDescendants(ancestor)) {
    const status = await readFile(`/proc/${pid}/status`, 'utf8');
    if (/^NSpid:.*\t1$/m.test(status)) return pid;
  }
  throw new Error(`process ${ancestor} has started no PID namespace`);
}

export async function listNamespace(init: number): Promise<NamespaceProcess[]> {
  const namespace = await readNamespace(init);
  const pids = namespace === undefined ? [] : await listPids();
  const processes: NamespaceProcess[] = [];
  for (const pid of pids) {
    if ((await readNamespace(pid)) !== namespace) continue;
    // Empty for a zombie.
    const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    if (line !== '') processes.push({ pid, command: line.replace(/\0$/, '').split('\0') });
  }
  return processes;
}

export async function readParent(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Number(/^PPid:\t(\d+)$/m.exec(status)?.[1] ?? 0);
}

/**
 * A killed process releases its files, and with them its locks, when its last thread has ended,
 * even if it is still a zombie.
 */
export async function untilEnded(pid: number): Promise<void> {
  for (;;) {
    const threads = await readdir(`/proc/${pid}/task`).catch(() => []);
    const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
    if (status === '' || (threads.length <= 1 && /^State:\t[ZX]/m.test(status))) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

async function listDescendants(ancestor: number): Promise<number[]> {
  const path = `/proc/${ancestor}/task/${ancestor}/children`;
  const children = (await readFile(path, 'utf8').catch(() => '')).split(' ').filter(Boolean);
  const found: number[] = [];
  for (const pid of children.map(Number)) found.push(pid, ...(await listDescendants(pid)));
  return found;
}

const readNamespace = (pid: number): Promise<string | undefined> =>
  readlink(`/proc/${pid}/ns/pid`).catch(() => undefined);

async function listPids(): Promise<number[]> {
  return (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
}
