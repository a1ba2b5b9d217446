import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import path from 'node:path';

export type Usage = { cpuUs: number; rss: number; heapUsed: number; external: number };

/**
 * A process of the benchmark with an IPC channel to it. The process ends when the benchmark ends,
 * even if the benchmark is killed.
 */
export type BenchProcess = {
  pid: number;
  ready: Record<string, unknown>;
  /**
   * Returns its CPU time and memory. With `collect`, memory is measured after a full garbage
   * collection.
   */
  usage(options?: { collect?: boolean }): Promise<Usage>;
  /** Called in pairs: the first begins a profile, the second writes it to the file. */
  profile(kind: 'cpu' | 'heap', file: string): Promise<void>;
  send(message: object): void;
  on(listener: (message: Record<string, unknown>) => void): void;
  stop(): Promise<void>;
};

const PRELOAD = path.join(import.meta.dirname, 'preload.mjs');
const TICK_US = 10_000;

/** `core`: the only core on which it may run. */
type Start = { name: string; args: string[]; env?: Record<string, string>; core?: string };

export async function startBenchProcess({ name, args, env, core }: Start): Promise<BenchProcess> {
  const command = [process.execPath, '--expose-gc', '--import', PRELOAD, ...args];
  const [program = '', ...rest] =
    core === undefined ? command : ['taskset', '-c', core, ...command];
  const child = spawn(program, rest, {
    env: { ...process.env, GANTRY_LOG_LEVEL: 'warn', ...env },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`${name} ended before it was ready, with ${code}`);
  });
  const ready = await Promise.race([reply(child, 'ready'), ended]);
  ended.catch(() => {});
  return {
    pid: child.pid ?? 0,
    ready: ready as Record<string, unknown>,
    async usage({ collect = false } = {}) {
      child.send({ bench: 'usage', collect });
      return (await reply(child, 'usage')) as Usage;
    },
    async profile(kind, file) {
      child.send({ bench: 'profile', kind, file });
      await reply(child, 'profiled');
    },
    send: (message) => child.send(message),
    on: (listener) => child.on('message', listener),
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exit = once(child, 'exit');
      child.kill('SIGTERM');
      await exit;
    },
  };
}

function reply(child: ChildProcess, field: string): Promise<unknown> {
  return new Promise((resolve) => {
    const listener = (message: unknown) => {
      const fields = message as Record<string, unknown>;
      if (!(field in fields)) return;
      child.off('message', listener);
      resolve(fields[field]);
    };
    child.on('message', listener);
  });
}

/** CPU time of a server and of its child processes, running and ended, in microseconds. */
export function cpuOfTree(pid: number): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ');
  let ticks = cpuTicks(pid, { withEnded: true });
  for (const child of children) if (child.trim() !== '') ticks += cpuTicks(Number(child));
  return ticks * TICK_US;
}

function cpuTicks(pid: number, { withEnded = false } = {}): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(') ') + 2).split(' ');
    const ended = withEnded ? Number(fields[13]) + Number(fields[14]) : 0;
    return Number(fields[11]) + Number(fields[12]) + ended;
  } catch {
    // The process has ended in the meantime.
    return 0;
  }
}
