import { execFile } from 'node:child_process';
import type { OperatedWorld } from './operated-world.ts';

/** A page has dozens of commands, and the machine may be busy with other work. */
export const LIMIT = { timeout: 600_000 };

/** Executes the commands of a page. The first one that fails ends it. */
export async function runScript({ env, localise }: OperatedWorld, script: string) {
  const args = ['--norc', '-euo', 'pipefail', '-c', localise(script)];
  return await new Promise<{ code: number | string; output: string }>((resolve) => {
    const child = execFile('bash', args, { env, cwd: env['HOME'] }, (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, output: `${stdout}\n${stderr}` }),
    );
    child.stdin?.end();
  });
}
