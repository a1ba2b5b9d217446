import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import type { Input } from '../cli-context.ts';
import { runCommandLine } from '../run-command-line.ts';

export type CliRun = { code: number; stdout: string; stderr: string };
type RunOptions = {
  /** What is on the standard input. */
  input?: string;
  /** What a person types on a terminal, instead of `input`: one chunk per text. */
  typed?: string[];
  env?: Record<string, string>;
  /** The width of the terminal that the command prints to; without it there is none. */
  columns?: number;
};

/** The CLI with a configuration directory of its own, without a process. */
export type TestCli = {
  /** `$XDG_CONFIG_HOME`. */
  home: string;
  run(args: string[], options?: RunOptions): Promise<CliRun>;
  remove(): Promise<void>;
};

export async function makeTestCli(): Promise<TestCli> {
  const home = await mkdtemp(path.join(tmpdir(), 'gantry-cli-'));
  return {
    home,
    async run(args, { input = '', typed, env = {}, columns } = {}) {
      const printed = { stdout: '', stderr: '' };
      const output = (name: 'stdout' | 'stderr') => ({
        write: (data: string | Uint8Array) => {
          printed[name] += typeof data === 'string' ? data : Buffer.from(data).toString();
        },
        ...(columns === undefined ? {} : { isTTY: true, columns }),
      });
      const process = {
        stdin:
          typed === undefined
            ? Readable.from([Buffer.from(input)])
            : terminal(typed, (mode) => {
                printed.stderr += mode;
              }),
        ...{ stdout: output('stdout'), stderr: output('stderr') },
        env: { HOME: home, XDG_CONFIG_HOME: home, ...env },
      };
      return { code: await runCommandLine(args, { process }), ...printed };
    },
    remove: () => rm(home, { recursive: true, force: true }),
  };
}

/**
 * In raw mode a terminal delivers each key, and the echo is what the program writes itself. The mode is
 * shown as `<raw>` and `</raw>` among what the program prints.
 */
function terminal(typed: string[], show: (mode: string) => void): Input {
  const setRawMode = (raw: boolean) => show(raw ? '<raw>' : '</raw>');
  // A terminal does not end after the last key.
  const keys = new Readable({ objectMode: true, read() {} });
  for (const text of typed) keys.push(Buffer.from(text));
  return Object.assign(keys, { isTTY: true, setRawMode });
}
