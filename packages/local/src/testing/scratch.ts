import { type ChildProcess, spawn } from 'node:child_process';
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { removeHome } from '@gantry/testkit/database/remove-home';
import { build } from 'esbuild';
import postgres from 'postgres';
import { waitUntil } from '../base/wait-until.ts';
import { findInstalledBinaries } from '../postgres/postgres-files.ts';
import { identifyProcess, sendSignal } from '../processes/process-identity.ts';

/** A start takes seconds, but much longer on a machine that is busy with other work. */
const LIMIT_MS = 120_000;

/** A directory for one test file. `clean` stops everything that was started in it. */
export type Scratch = {
  directory: string;
  home(name: string): string;
  owner(home: string, user?: { uid: number; gid: number }): Promise<Owner>;
  /** The owner is started but may not be ready. */
  beginOwner(home: string, user?: { uid: number; gid: number }): ChildProcess;
  clean(): Promise<void>;
};

export type Owner = { child: ChildProcess; databaseUrl: string; pid: number };

export async function makeScratch(): Promise<Scratch> {
  const directory = await mkdtemp(path.join(tmpdir(), 'gantry-local-'));
  await chmod(directory, 0o755);
  const program = path.join(directory, 'owner.mjs');
  await bundle(fileURLToPath(new URL('owner.ts', import.meta.url)), program);
  const homes = new Set<string>();
  const children: ChildProcess[] = [];

  const home = (name: string) => {
    const place = path.join(directory, name);
    homes.add(place);
    return place;
  };
  const beginOwner: Scratch['beginOwner'] = (place, user) => {
    const args = [program, place, findInstalledBinaries()];
    const child = spawn(process.execPath, args, {
      ...user,
      cwd: '/',
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    children.push(child);
    return child;
  };
  return {
    directory,
    home,
    beginOwner,
    async owner(place, user) {
      const child = beginOwner(place, user);
      for await (const line of createInterface({ input: child.stdout ?? process.stdin })) {
        return { child, ...(JSON.parse(line) as Omit<Owner, 'child'>) };
      }
      throw new Error('the owner exited before its server was ready');
    },
    async clean() {
      for (const child of children) child.kill('SIGKILL');
      for (const place of homes) await removeHome(place);
      await rm(directory, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}

export async function bundle(entry: string, outfile: string): Promise<void> {
  const banner =
    "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);";
  await build({
    entryPoints: [entry],
    outfile,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    banner: { js: banner },
    logLevel: 'silent',
  });
}

export async function query(url: string, text: string): Promise<Record<string, unknown>[]> {
  const sql = postgres(url, { max: 1, connect_timeout: 5, onnotice: () => {} });
  try {
    return await sql.unsafe(text);
  } finally {
    await sql.end({ timeout: 1 });
  }
}

export async function guardPid(home: string): Promise<number> {
  const guard = JSON.parse(await readFile(path.join(home, 'postgres-guard.json'), 'utf8'));
  return guard.pid as number;
}

/** Kills the processes. Returns when they have exited. */
export async function killHard(...pids: (number | undefined)[]): Promise<void> {
  for (const pid of pids) if (pid !== undefined) sendSignal(pid, 'SIGKILL');
  for (const pid of pids) if (pid !== undefined) await untilGone(pid);
}

export async function untilGone(pid: number): Promise<void> {
  await until(async () => (await identifyProcess(pid)) === undefined);
}

export async function until(condition: () => Promise<boolean>): Promise<void> {
  const met = await waitUntil({
    limitMs: LIMIT_MS,
    condition: async () => ((await condition()) ? true : undefined),
  });
  if (!met) throw new Error(`the condition was not met within ${LIMIT_MS / 1000} s`);
}
