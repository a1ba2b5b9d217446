import { homedir } from 'node:os';
import path from 'node:path';
import type { Tokens } from '@gantry/sdk';
import { changeJson, readJson } from './json-file.ts';

/** One server, and who the user is there. */
export type ServerContext = {
  server: string;
  /** Empty if the user belongs to no project. */
  project_id: string;
  /** A user without tokens has logged out. */
  credential: { access_key: string } | { email: string; tokens?: Tokens };
};

export type Config = {
  /** The name of the context that commands use; empty if there is none. */
  current: string;
  contexts: Record<string, ServerContext>;
};

export type Environment = Readonly<Record<string, string | undefined>>;

/** As https://specifications.freedesktop.org/basedir-spec says. A relative path must be ignored. */
export function configFile(env: Environment): string {
  const configured = env['XDG_CONFIG_HOME'] ?? '';
  const home = path.isAbsolute(configured)
    ? configured
    : path.join(env['HOME'] || homedir(), '.config');
  return path.join(home, 'gantry', 'config.json');
}

export async function readConfig(env: Environment): Promise<Config> {
  const { current, contexts } = ((await readJson(configFile(env))) ?? {}) as Partial<Config>;
  return { current: current ?? '', contexts: contexts ?? {} };
}

/** Runs the work while no other process changes the file. `write` replaces it atomically. */
export async function changeConfig<T>(
  env: Environment,
  work: (config: Config, write: (next: Config) => Promise<void>) => Promise<T>,
): Promise<T> {
  return await changeJson(configFile(env), async (write) => work(await readConfig(env), write));
}
