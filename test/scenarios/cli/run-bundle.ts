import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import type { StreamedEvent } from '@gantry/sdk';

export const root = path.resolve(import.meta.dirname, '../../..');
export const bundle = path.join(root, 'packages/cli/dist/main.mjs');

export type BundleRun = { code: number | null; stdout: string; stderr: string };
type RunOptions = {
  /** `$HOME` and `$XDG_CONFIG_HOME`. */
  home: string;
  input?: string;
  env?: Record<string, string>;
  /** Sends Ctrl-C once this text is on the standard error. */
  interruptAt?: string;
};

/** Runs `gantry` as a process, as a script does: without a terminal. */
export async function runBundle(args: string[], options: RunOptions): Promise<BundleRun> {
  const { home, input = '', env = {}, interruptAt } = options;
  const child = spawn(process.execPath, [bundle, ...args], {
    env: { PATH: process.env['PATH'], HOME: home, XDG_CONFIG_HOME: home, ...env },
  });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    const isNew = interruptAt !== undefined && !stderr.includes(interruptAt);
    stderr += chunk;
    if (isNew && stderr.includes(interruptAt)) child.kill('SIGINT');
  });
  // A command that fails early does not read its input.
  child.stdin.on('error', () => {}).end(input);
  const [[code], stdout] = await Promise.all([once(child, 'close'), text(child.stdout)]);
  return { code, stdout, stderr };
}

/** Runs `gantry events -f` until it is stopped by Ctrl-C. `stop` returns the exit code. */
export function followEvents(
  home: string,
  onEvent: (event: StreamedEvent) => void,
  after?: string,
) {
  const args = ['events', '--follow', '--output', 'json', ...(after ? ['--after', after] : [])];
  const child = spawn(process.execPath, [bundle, ...args], {
    env: { PATH: process.env['PATH'], HOME: home, XDG_CONFIG_HOME: home },
  });
  createInterface(child.stdout).on('line', (line) => onEvent(JSON.parse(line)));
  return {
    async stop(): Promise<number | null> {
      child.kill('SIGINT');
      const [code] = await once(child, 'close');
      return code;
    },
  };
}
