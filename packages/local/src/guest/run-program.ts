import { execFile } from 'node:child_process';
import { StartError } from '../start-error.ts';

/** Runs a program without a shell; answers what it printed. */
export function runProgram(
  program: string,
  args: readonly string[],
  { cwd = '/' }: { cwd?: string } = {},
): Promise<Buffer> {
  const options = {
    cwd,
    encoding: 'buffer' as const,
    maxBuffer: 256 * 1024 * 1024,
    env: { ...process.env, LC_ALL: 'C', E2FSPROGS_FAKE_TIME: '1' },
  };
  return new Promise((resolve, reject) => {
    execFile(program, [...args], options, (error, stdout, stderr) => {
      if (!error) return resolve(stdout);
      const missing = error.code === 'ENOENT';
      const said = missing ? 'it is not installed' : lastLines(stderr.toString());
      reject(new StartError(`${program} ${args[0] ?? ''} failed: ${said}`, { cause: error }));
    });
  });
}

function lastLines(text: string): string {
  return text.trim().split('\n').slice(-5).join('\n');
}
