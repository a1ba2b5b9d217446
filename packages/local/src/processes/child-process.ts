import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { open } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { Backoff } from '@gantry/daemon/backoff';
import { StartError } from '../base/start-error.ts';
import { boundLog, readTail } from './log-file.ts';

/**
 * A process of ours that is kept running. The first start must succeed, or it fails with what the
 * process last said; after that, one that dies is started again, after a growing pause. Each child
 * has a process group of its own, so that a Ctrl-C reaches it once, through us; and each ends by
 * itself when its IPC channel to us closes.
 */
export type ChildSpec = {
  name: string;
  script: string;
  args?: readonly string[];
  logFile: string;
  /** Asked at every start: what the first one found out (its port) may hold for the next. */
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

/** Migrations and a cold disk included; longer than that is a hang. */
const READY_LIMIT_MS = 60_000;
/** As long as a process may take to drain. */
const STOP_LIMIT_MS = 30_000;
const BACKOFF = { minMs: 500, maxMs: 10_000, jitter: 0 };
/** A run as long as this was a healthy one: its end is news, not a pattern. */
const HEALTHY_MS = 60_000;

type Run = {
  child: ChildProcess;
  startedAt: number;
  logStart: number;
  ended: Promise<string>;
  /** Undefined when it ended, or said nothing in time. */
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
    // A channel that breaks is the child's end, which is seen by itself.
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
  const said = await readTail(spec.logFile, { from: run.logStart });
  const lines = said.trim().split('\n').slice(-15).join('\n');
  const what = hung ? `was not ready within ${READY_LIMIT_MS / 1000} s` : `ended (${how})`;
  return new StartError(
    `The ${spec.name} ${what}. Its last lines, from ${spec.logFile}:\n${lines}`,
  );
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
        spec.say(`The ${spec.name} ended (${how}); starting it again. Its log: ${spec.logFile}`);
        await delay(backoff.nextMs(), undefined, { signal: stopping.signal }).catch(() => {});
        if (stopping.signal.aborted) return;
      }
      restarting = false;
      run = await launch(spec);
      if (stopping.signal.aborted) run.child.kill('SIGTERM');
      if (await run.ready) spec.say(`The ${spec.name} is back.`);
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
