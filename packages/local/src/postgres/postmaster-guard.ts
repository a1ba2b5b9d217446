import { spawn } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { StartError } from '../base/start-error.ts';
import { waitUntil } from '../base/wait-until.ts';
import { type Home, readIfThere, writePrivateFile } from '../home/home.ts';
import { identifyProcess, sendSignal } from '../processes/process-identity.ts';
import type { User } from './reachable-directory.ts';

/**
 * Stops the server when this process dies. The guard is a shell that reads from a pipe whose other
 * end only this process holds. The kernel closes the pipe when this process exits for any reason.
 * The guard has its own session, so that closing the terminal does not kill it first.
 */
const GUARD = 'read -r _; kill -INT "$1"';

/** A guard sends its signal milliseconds after its owner died. One that stays has an owner. */
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
  if (child.pid === undefined)
    throw new Error('The guard process of PostgreSQL could not be started.');
  child.unref();
  // The pipe must not keep this process alive. Writing to a guard that has exited is no error.
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
 * Waits for the guard of an owner that has just been killed. That guard may be about to stop the
 * server, so it must have sent its signal before the server is inspected.
 */
export async function waitForOldGuard(home: Home): Promise<void> {
  const gone = await waitUntil({
    limitMs: HANDOVER_LIMIT_MS,
    condition: async () => ((await isGuarded(home)) ? undefined : true),
  });
  if (gone) return;
  throw new StartError(
    `The database of ${home.directory} is in use by another process. ` +
      'Stop that process first, or set GANTRY_HOME to another directory.',
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
