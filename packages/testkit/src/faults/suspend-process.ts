import { spawn } from 'node:child_process';

/** If the test run dies, a suspended process would stay forever: the guard then kills it. */
const GUARD = 'read -r _; kill -KILL "$1"';

/** Stops a process with SIGSTOP. Returns a function that continues it. */
export function suspendProcess(pid: number): () => void {
  const guard = spawn('/bin/sh', ['-c', GUARD, 'gantry-suspend-guard', `${pid}`], {
    ...{ cwd: '/', env: {}, detached: true, stdio: ['pipe', 'ignore', 'ignore'] },
  });
  guard.unref();
  guard.stdin?.on('error', () => {});
  send(pid, 'SIGSTOP');
  return () => {
    send(pid, 'SIGCONT');
    guard.kill('SIGKILL');
  };
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It was killed while it was suspended.
  }
}
