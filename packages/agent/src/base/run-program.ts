import { execFile } from 'node:child_process';
import { MachineFailure } from '../host-driver.ts';

/** Runs a program without a shell to its end and answers what it printed. A failure carries what it said. */
export type RunProgram = (
  program: string,
  args: readonly string[],
  options?: { timeoutMs?: number; input?: string },
) => Promise<string>;

/** For what does not move data; such programs end within a second on a host that is well. */
const TIMEOUT_MS = 60_000;
const LARGEST_OUTPUT_BYTES = 64 * 2 ** 20;

/** Failures of its programs are of this code. */
export function programRunner(code: string): RunProgram {
  return (program, args, { timeoutMs = TIMEOUT_MS, input = '' } = {}) =>
    new Promise((resolve, reject) => {
      const options = {
        timeout: timeoutMs,
        killSignal: 'SIGKILL',
        maxBuffer: LARGEST_OUTPUT_BYTES,
        env: { ...process.env, LC_ALL: 'C' },
      } as const;
      const child = execFile(program, [...args], options, (error, stdout, stderr) => {
        if (!error) return resolve(stdout);
        // Some say what is wrong where others print their results.
        const message = `${program} ${args[0] ?? ''}: ${said(error, stderr.trim() || stdout.trim())}`;
        reject(new MachineFailure(code, message, { cause: error }));
      });
      // A program that ends before it has read everything says why by its exit code.
      child.stdin?.on('error', () => undefined);
      child.stdin?.end(input);
    });
}

function said(error: Error, words: string): string {
  if ('code' in error && error.code === 'ENOENT') return 'it is not installed';
  if ('killed' in error && error.killed === true) return 'it took too long and was ended';
  return words === '' ? error.message : words;
}
