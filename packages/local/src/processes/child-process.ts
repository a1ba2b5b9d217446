import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { open } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { Backoff } from '@gantry/daemon/backoff';
import { StartError } from '../base/start-error.ts';
import { boundLog, readTail } from './log-file.ts';

/**
 * A child process that the launcher supervises. If the first start fails, the launcher fails with
 * the last lines of the child's log. Later the launcher restarts a child that dies, with backoff.
 * Each child has its own process group, so that a Ctrl-C reaches it only through the launcher, and
 * exits when its IPC channel to the launcher closes.
 */
export type ChildSpec = {
  name: string;
  script: string;
  args?: readonly string[];
  logFile: string;
  /** Called at every start, because a restarted child must use the port of the first one. */
  environment: () => NodeJS.ProcessEnv;
  say: (line: string) => void;
};

export type RunningChild = {
  name: string;
  ready: Record<string, unknown>;
  /** Stops the process, and starts it again from the same script without a pause. */
  restart(): void;
  stop(): Promise<void>;
  kill(): void;
};

/** Long enough for migrations on a cold disk. A child that takes longer hangs. */
const READY_LIMIT_MS = 60_000;
/** A process may take this long to drain. */
const STOP_LIMIT_MS = 30_000;
const BACKOFF = { minMs: 500, maxMs: 10_000, jitter: 0 };
/** A child that ran this long was healthy, so the backoff starts again. */
const HEALTHY_MS = 60_000;

type Run = {
  child: ChildProcess;
  startedAt: number;
  logStart: number;
  ended: Promise<string>;
  /** Undefined if the child exited or was not ready in time. */
  ready: Promise<Record<string, unknown> | undefined>;
};

export async function startChild(spec: ChildSpec, stopping: AbortSignal): Promise<RunningChild> {
  await boundLog(spec.logFile);
  const first = await launch(spec);
  const onStop = () => first.child.kill('SIGTERM');
  stopping.addEventListener('abort', onStop);
  const ready = await first.ready;
  stopping.removeEventListener('abort', onStop);
  if (!ready) throw await explain(spec, first);
  return supervise({ spec, first, ready });
}

async function launch(spec: ChildSpec): Promise<Run> {
  const log = await open(spec.logFile, 'a', 0o600);
  try {
    const { size } = await log.stat();
    const command = ['--enable-source-maps', spec.script, ...(spec.args ?? [])];
    const child = spawn(process.execPath, command, {
      env: spec.environment(),
      detached: true,
      stdio: ['ignore', log.fd, log.fd, 'ipc'],
    });
    const ended = once(child, 'exit').then(
      ([code, signal]) => (signal ? `signal ${signal}` : `exit code ${code}`),
      (error: unknown) => String(error),
    );
    // The channel breaks when the child exits. The exit event handles that.
    child.on('error', () => {});
    return { child, startedAt: Date.now(), logStart: size, ended, ready: readiness(child, ended) };
  } finally {
    await log.close();
  }
}

function readiness(child: ChildProcess, ended: Promise<string>): Run['ready'] {
  return new Promise((resolve) => {
    const limit = setTimeout(() => resolve(undefined), READY_LIMIT_MS);
    const settle = (value: Record<string, unknown> | undefined) => {
      clearTimeout(limit);
      resolve(value);
    };
    child.on('message', (message: { ready?: Record<string, unknown> }) => {
      if (message.ready) settle(message.ready);
    });
    void ended.then(() => settle(undefined));
  });
}

async function explain(spec: ChildSpec, run: Run): Promise<StartError> {
  const hung = run.child.exitCode === null && run.child.signalCode === null;
  if (hung) run.child.kill('SIGKILL');
  const how = await run.ended;
  const output = await readTail(spec.logFile, { from: run.logStart });
  const lines = output.trim().split('\n').slice(-15).join('\n');
  const what = hung ? `was not ready within ${READY_LIMIT_MS / 1000} s` : `exited (${how})`;
  return new StartError(`The ${spec.name} ${what}. The last lines of ${spec.logFile}:\n${lines}`);
}

type Supervised = { spec: ChildSpec; first: Run; ready: Record<string, unknown> };

function supervise({ spec, first, ready }: Supervised): RunningChild {
  const stopping = new AbortController();
  let run = first;
  let restarting = false;

  const watch = async () => {
    const backoff = new Backoff(BACKOFF);
    for (;;) {
      const how = await run.ended;
      if (stopping.signal.aborted) return;
      if (restarting || Date.now() - run.startedAt > HEALTHY_MS) backoff.reset();
      if (!restarting) {
        spec.say(
          `The ${spec.name} exited (${how}) and is being restarted. Its log: ${spec.logFile}`,
        );
        await delay(backoff.nextMs(), undefined, { signal: stopping.signal }).catch(() => {});
        if (stopping.signal.aborted) return;
      }
      restarting = false;
      run = await launch(spec);
      if (stopping.signal.aborted) run.child.kill('SIGTERM');
      if (await run.ready) spec.say(`The ${spec.name} is running again.`);
      else run.child.kill('SIGKILL');
    }
  };
  const watching = watch();

  return {
    name: spec.name,
    ready,
    restart() {
      if (restarting || stopping.signal.aborted) return;
      restarting = true;
      spec.say(`The ${spec.name} restarts.`);
      const { child, ended } = run;
      child.kill('SIGTERM');
      const limit = setTimeout(() => child.kill('SIGKILL'), STOP_LIMIT_MS);
      void ended.then(() => clearTimeout(limit));
    },
    kill: () => run.child.kill('SIGKILL'),
    async stop() {
      stopping.abort();
      run.child.kill('SIGTERM');
      const limit = setTimeout(() => run.child.kill('SIGKILL'), STOP_LIMIT_MS);
      await watching;
      clearTimeout(limit);
    },
  };
}
