import { type ChildProcess, spawn } from 'node:child_process';
import { openSync } from 'node:fs';

/** A mon, an OSD or a mgr that a test can kill, start again, stop and resume. */
export type CephDaemon = {
  /** The process id, from the last start. */
  readonly pid: number;
  start(): void;
  /** Ends it as a crash would, and resolves when it has ended. */
  kill(): Promise<void>;
  /** Stops the process without ending it, like a machine that hangs. */
  suspend(): void;
  resume(): void;
};

/** The daemon ends with this process, even if that is killed. Its output is in the log file. */
export function makeCephDaemon({
  command,
  environment,
  log,
}: {
  command: readonly string[];
  environment: NodeJS.ProcessEnv;
  log: string;
}): CephDaemon {
  let child: ChildProcess | undefined;
  let ended: Promise<void> = Promise.resolve();
  const signal = (name: NodeJS.Signals) => {
    if (!child || child.exitCode !== null || child.signalCode !== null)
      throw new Error(`${command.join(' ')} does not run; see ${log}.`);
    child.kill(name);
  };
  return {
    get pid() {
      if (child?.pid === undefined) throw new Error(`${command.join(' ')} was not started.`);
      return child.pid;
    },
    start: () => {
      const output = openSync(log, 'a');
      const started = spawn('setpriv', ['--pdeathsig', 'KILL', ...command], {
        env: environment,
        stdio: ['ignore', output, output],
      });
      ended = new Promise((resolve) => {
        started.once('error', () => resolve());
        started.once('exit', () => resolve());
      });
      started.unref();
      child = started;
    },
    kill: async () => {
      child?.ref();
      child?.kill('SIGKILL');
      await ended;
    },
    suspend: () => signal('SIGSTOP'),
    resume: () => signal('SIGCONT'),
  };
}
