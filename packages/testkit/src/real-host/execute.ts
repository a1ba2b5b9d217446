import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);
const LIMIT_MS = 120_000;

/** Runs a program without a shell. Returns its output; rejects with its error output. */
export async function execute(program: string, ...args: string[]): Promise<string> {
  const { stdout } = await run(program, args, { timeout: LIMIT_MS, maxBuffer: 64 * 1024 * 1024 });
  return stdout;
}
