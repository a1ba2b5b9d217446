import { spawn } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { StartError } from '../base/start-error.ts';
import { waitUntil } from '../base/wait-until.ts';
import { type Home, readIfThere, writePrivateFile } from '../home/home.ts';
import { identifyProcess, sendSignal } from '../processes/process-identity.ts';
import type { User } from './reachable-directory.ts';

/**
 * Stops the server when we die without a word. A shell waits on a pipe whose other end only this
 * process holds: the kernel closes it with us, however we end. It lives in a session of its own, so
 * that what ends a terminal's processes does not end the guard first.
 */
const GUARD = 'read -r _; kill -INT "$1"';

/** From the owner's death to the guard's signal are milliseconds; a guard that stays has an owner. */
const HANDOVER_LIMIT_MS = 5_000;

export type Guard = { release(): Promise<void> };

type Guarded = { home: Home; pid: number; user: User | undefined };

export async function startGuard({ home, pid, user }: Guarded): Promise<Guard> {
  const child = spawn('/bin/sh', ['-c', GUARD, 'gantry-postgres-guard', `${pid}`], {
    ...user,
    cwd: '/',
    env: {},
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  if (child.pid === undefined) throw new Error('the guard of PostgreSQL could not be started');
  child.unref();
  // The pipe must not keep this process alive; a guard that ends early makes it an error to ignore.
  if ('unref' in child.stdin && typeof child.stdin.unref === 'function') child.stdin.unref();
  child.stdin.on('error', () => {});
  const guardPid = child.pid;
  const identity = await identifyProcess(guardPid);
  await writePrivateFile(guardFile(home), JSON.stringify({ pid: guardPid, identity }));
  return {
    async release() {
      sendSignal(guardPid, 'SIGKILL');
      await rm(guardFile(home), { force: true });
    },
  };
}

/**
 * A guard of an owner that has just been killed may be about to stop the server: its signal must
 * be out before the server is looked at.
 */
export async function waitForOldGuard(home: Home): Promise<void> {
  const gone = await waitUntil({
    limitMs: HANDOVER_LIMIT_MS,
    condition: async () => ((await isGuarded(home)) ? undefined : true),
  });
  if (gone) return;
  throw new StartError(
    `The database of ${home.directory} is in use by another process. Stop that one first, or set GANTRY_HOME to another directory.`,
  );
}

async function isGuarded(home: Home): Promise<boolean> {
  try {
    const guard = JSON.parse((await readIfThere(guardFile(home))) ?? '') as Record<string, unknown>;
    const { pid, identity } = guard;
    return typeof pid === 'number' && (await identifyProcess(pid)) === identity && !!identity;
  } catch {
    return false;
  }
}

function guardFile(home: Home): string {
  return home.file('postgres-guard.json');
}
