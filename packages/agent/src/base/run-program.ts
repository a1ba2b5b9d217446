import { ExecError, exec } from '@gantry/daemon/exec';
import { HostFailure } from './failure.ts';

/**
 * Runs a program without a shell and returns its output. Throws a failure with its error message. A
 * limit of zero is none.
 */
export type RunProgram = (
  program: string,
  args: readonly string[],
  options?: {
    timeoutMs?: number;
    input?: string;
    env?: Record<string, string>;
    /** Kills the program. */
    signal?: AbortSignal | undefined;
  },
) => Promise<string>;

/** For programs that do not move data; on a healthy host they exit within a second. */
const TIMEOUT_MS = 60_000;

/** Returns a RunProgram whose failures have this code. */
export function programRunner(code: string): RunProgram {
  return async (program, args, { timeoutMs = TIMEOUT_MS, input = '', env = {}, signal } = {}) => {
    try {
      return (await exec(program, args, { timeoutMs, input, env, signal })).toString();
    } catch (error) {
      const message = `${program} ${args[0] ?? ''}: ${reasonOf(error)}`;
      throw new HostFailure(code, message, { cause: error });
    }
  };
}

function reasonOf(error: unknown): string {
  if (!(error instanceof ExecError)) return String(error);
  if (error.reason === 'not installed') return 'it is not installed';
  if (error.reason === 'timeout') return 'it took too long and was ended';
  // Some programs print their error messages to standard output.
  return error.stderr || error.stdout || error.message;
}
