import { execFile } from 'node:child_process';
import { MIB } from './units.ts';

type ExecOptions = {
  /** The program is killed after this time. Without it there is no limit. */
  timeoutMs?: number;
  /** What the program reads from its standard input. */
  input?: string;
  cwd?: string;
  env?: Record<string, string>;
  /** Kills the program. */
  signal?: AbortSignal | undefined;
};

const MAX_OUTPUT_BYTES = 256 * MIB;

/**
 * A program that could not be started, was killed after its time limit, or exited with an error.
 */
export class ExecError extends Error {
  override name = 'ExecError';
  readonly reason: 'not installed' | 'timeout' | 'failed';
  readonly stdout: string;
  readonly stderr: string;

  constructor(message: string, details: Pick<ExecError, 'reason' | 'stdout' | 'stderr' | 'cause'>) {
    super(message, { cause: details.cause });
    this.reason = details.reason;
    this.stdout = details.stdout;
    this.stderr = details.stderr;
  }
}

/**
 * Runs a program without a shell and returns its standard output. Throws an ExecError if it fails.
 * The locale is C, so that output can be parsed.
 */
export function exec(
  program: string,
  args: readonly string[],
  { timeoutMs = 0, input = '', cwd, env, signal }: ExecOptions = {},
): Promise<Buffer> {
  const options = {
    ...(cwd === undefined ? {} : { cwd }),
    ...(signal === undefined ? {} : { signal }),
    encoding: 'buffer',
    timeout: timeoutMs,
    killSignal: 'SIGKILL',
    maxBuffer: MAX_OUTPUT_BYTES,
    env: { ...process.env, LC_ALL: 'C', ...env },
  } as const;
  return new Promise((resolve, reject) => {
    const child = execFile(program, [...args], options, (error, stdout, stderr) => {
      if (!error) return resolve(stdout);
      const reason =
        error.code === 'ENOENT' ? 'not installed' : error.killed ? 'timeout' : 'failed';
      const output = { stdout: stdout.toString().trim(), stderr: stderr.toString().trim() };
      reject(new ExecError(error.message, { reason, ...output, cause: error }));
    });
    // A program may exit before it has read all its input. Its exit code shows whether it failed.
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(input);
  });
}
