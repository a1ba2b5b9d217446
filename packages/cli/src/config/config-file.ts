import { mkdir, readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { replaceFile, unlessMissing } from '@gantry/daemon/durable-file';
import type { Tokens } from '@gantry/sdk';
import { UsageError } from '../cli-errors.ts';
import { withFileLock } from './file-lock.ts';

/** One server, and who the user is there. */
export type ServerContext = {
  server: string;
  /** Empty if the user belongs to no project. */
  project_id: string;
  credential: { access_key: string } | { email: string; tokens: Tokens };
};

export type Config = {
  /** The name of the context that commands use; empty if there is none. */
  current: string;
  contexts: Record<string, ServerContext>;
};

type Environment = Readonly<Record<string, string | undefined>>;

/** As https://specifications.freedesktop.org/basedir-spec says. A relative path must be ignored. */
export function configFile(env: Environment): string {
  const configured = env['XDG_CONFIG_HOME'] ?? '';
  const home = path.isAbsolute(configured)
    ? configured
    : path.join(env['HOME'] || homedir(), '.config');
  return path.join(home, 'gantry', 'config.json');
}

export async function readConfig(env: Environment): Promise<Config> {
  const file = configFile(env);
  const text = await unlessMissing(readFile(file, 'utf8'));
  if (text === undefined) return { current: '', contexts: {} };
  try {
    const { current, contexts } = JSON.parse(text) as Config;
    return { current: current ?? '', contexts: contexts ?? {} };
  } catch {
    throw new UsageError(`${file} is not valid JSON. Mend it, or remove it and log in again.`);
  }
}

/**
 * Runs the work while no other process changes the file. `write` replaces the file atomically, with
 * the mode 0600: a reader sees the old or the new content, and other users see neither.
 */
export async function changeConfig<T>(
  env: Environment,
  work: (config: Config, write: (next: Config) => Promise<void>) => Promise<T>,
): Promise<T> {
  const file = configFile(env);
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
  return await withFileLock(`${file}.lock`, async () =>
    work(await readConfig(env), (next) =>
      replaceFile(file, `${JSON.stringify(next, null, 2)}\n`, 0o600),
    ),
  );
}
