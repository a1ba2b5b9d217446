import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { MachineFailure } from '../machine.ts';

/** Runs a program to its end and answers what it printed. A failure carries what it said. */
export type RunProgram = (
  program: string,
  args: readonly string[],
  timeoutMs?: number,
) => Promise<string>;

/** For what does not move data; such programs end within a second on a host that is well. */
const TIMEOUT_MS = 60_000;
const LARGEST_OUTPUT_BYTES = 64 * 2 ** 20;
const execute = promisify(execFile);

export const runProgram: RunProgram = async (program, args, timeoutMs = TIMEOUT_MS) => {
  const options = {
    timeout: timeoutMs,
    killSignal: 'SIGKILL',
    maxBuffer: LARGEST_OUTPUT_BYTES,
    env: { ...process.env, LC_ALL: 'C' },
  } as const;
  try {
    return (await execute(program, [...args], options)).stdout;
  } catch (error) {
    throw new MachineFailure('storage_failed', `${program} ${args[0]}: ${said(error)}`, {
      cause: error,
    });
  }
};

function said(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if ('killed' in error && error.killed === true) return 'it took too long and was ended';
  const stderr = 'stderr' in error && typeof error.stderr === 'string' ? error.stderr.trim() : '';
  return stderr === '' ? error.message : stderr;
}
