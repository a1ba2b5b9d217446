import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** Typed settings from environment variables. Every process reads its settings once, at start. */

type Environment = Record<string, string | undefined>;

/** A setting is missing or has a value that cannot be used. The message names the variable. */
export class SettingsError extends Error {
  override name = 'SettingsError';
}

export type SettingsReader = {
  text(name: string, fallback?: string): string;
  optional(name: string): string | undefined;
  integer(name: string, limits: { fallback: number; min: number; max: number }): number;
  /**
   * Returns the content of the file that `<name>_FILE` names, or of the file `<name>` among the
   * credentials that systemd passes, or the variable itself, in this order. The variable is removed
   * from the environment, so that no child process inherits it and no crash report contains it. It
   * stays in /proc/PID/environ, which is why files are better.
   */
  secret(name: string): string;
  optionalSecret(name: string): string | undefined;
};

export function createSettingsReader(env: Environment = process.env): SettingsReader {
  const optional = (name: string) => env[name] || undefined;
  const text = (name: string, fallback?: string) => {
    const value = optional(name) ?? fallback;
    if (value === undefined) throw new SettingsError(`${name} must be set`);
    return value;
  };
  const optionalSecret = (name: string) => {
    const value = optional(name);
    delete env[name];
    const file = optional(`${name}_FILE`);
    if (file !== undefined) return readSecretFile(`${name}_FILE`, file);
    const credential = credentialFile(env, name);
    return credential === undefined ? value : readSecretFile(name, credential);
  };
  return {
    text,
    optional,
    optionalSecret,
    integer(name, { fallback, min, max }) {
      const raw = optional(name);
      if (raw === undefined) return fallback;
      const value = Number(raw);
      if (!Number.isInteger(value) || value < min || value > max) {
        const range = `a whole number from ${min} to ${max}`;
        throw new SettingsError(`${name} must be ${range}, not "${raw}"`);
      }
      return value;
    },
    secret(name) {
      const value = optionalSecret(name);
      if (value === undefined) throw new SettingsError(`${name} or ${name}_FILE must be set`);
      return value;
    },
  };
}

function credentialFile(env: Environment, name: string): string | undefined {
  const directory = env['CREDENTIALS_DIRECTORY'];
  const file = directory && path.join(directory, name);
  return file && existsSync(file) ? file : undefined;
}

function readSecretFile(setting: string, file: string): string {
  let value: string;
  try {
    value = readFileSync(file, 'utf8').trimEnd();
  } catch (cause) {
    throw new SettingsError(`${setting} cannot be read: ${file}`, { cause });
  }
  if (value === '') throw new SettingsError(`${setting} is empty: ${file}`);
  return value;
}

export const EXPOSED_SECRETS =
  'secrets in the environment can be read in /proc/PID/environ: use files or systemd credentials';

/**
 * Returns the secrets that a service has in its environment, which every process of the same user
 * can read in /proc/PID/environ as long as the service runs. Call it before the settings are read.
 * It returns none on a developer's machine, where nothing is to be kept secret.
 */
export function findExposedSecrets(
  names: readonly string[],
  env: Environment = process.env,
): string[] {
  // systemd sets INVOCATION_ID for every service.
  const isService = env['INVOCATION_ID'] !== undefined || env['NODE_ENV'] === 'production';
  return isService ? names.filter((name) => env[name]) : [];
}
