import { ExecError, exec } from '@gantry/daemon/exec';
import { StartError } from '../base/start-error.ts';

/** Runs a program without a shell and returns its output. */
export async function runProgram(
  program: string,
  args: readonly string[],
  { cwd = '/', env = {} }: { cwd?: string; env?: Record<string, string> } = {},
): Promise<Buffer> {
  try {
    return await exec(program, args, { cwd, env: { E2FSPROGS_FAKE_TIME: '1', ...env } });
  } catch (error) {
    const reason = error instanceof ExecError ? reasonOf(error) : String(error);
    throw new StartError(`${program} ${args[0] ?? ''} failed: ${reason}`, { cause: error });
  }
}

function reasonOf(error: ExecError): string {
  if (error.reason === 'not installed') return 'it is not installed';
  return error.stderr.split('\n').slice(-5).join('\n');
}
