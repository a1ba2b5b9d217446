import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { removeHome } from '../database/remove-home.ts';

/** Starts what `npm start` runs: every process is real, with its own home and port. */
export type Gantry = {
  child: ChildProcess;
  /** Everything that it has printed. */
  output(): string;
  connection: Connection;
  stop(): Promise<number | null>;
};

export type Connection = {
  base_url: string;
  project_id: string;
  access_key: string;
  operator_email: string;
  operator_password: string;
};

const root = path.resolve(import.meta.dirname, '../../../..');

export async function makeHome(): Promise<{ home: string; remove(): Promise<void> }> {
  const directory = await mkdtemp(path.join(tmpdir(), 'gantry-system-'));
  const home = path.join(directory, 'home');
  return {
    home,
    async remove() {
      await removeHome(home);
      await rm(directory, { recursive: true, force: true });
    },
  };
}

export async function startGantry(home: string, env: Record<string, string> = {}): Promise<Gantry> {
  const { DATABASE_URL: _, ...inherited } = process.env;
  const child = spawn(process.execPath, [path.join(root, 'scripts/start.mjs')], {
    cwd: root,
    env: { ...inherited, GANTRY_HOME: home, GANTRY_PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk;
    });
  }
  const exited = once(child, 'exit').then(([code]) => code as number | null);
  await untilPrinted(
    child,
    () => output.includes('/vms/operations'),
    () => output,
  );
  return {
    child,
    output: () => output,
    connection: JSON.parse(
      await readFile(path.join(home, 'connection.json'), 'utf8'),
    ) as Connection,
    async stop() {
      child.kill('SIGINT');
      return await exited;
    },
  };
}

async function untilPrinted(
  child: ChildProcess,
  isReady: () => boolean,
  output: () => string,
): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const look = () => {
      if (isReady()) resolve();
    };
    child.stdout?.on('data', look);
    child.on('exit', (code) =>
      reject(new Error(`ended with ${code} before it was ready:\n${output()}`)),
    );
  });
}

/** Every process of this home, found by its environment or command line. */
export function processesOf(home: string): number[] {
  const pids = readdirSync('/proc').filter((name) => /^[0-9]+$/.test(name));
  return pids.map(Number).filter((pid) => pid !== process.pid && mentions(pid, home));
}

function mentions(pid: number, text: string): boolean {
  try {
    return ['environ', 'cmdline'].some((file) =>
      readFileSync(`/proc/${pid}/${file}`, 'utf8').includes(text),
    );
  } catch {
    // The process has ended, or may not be read.
    return false;
  }
}
