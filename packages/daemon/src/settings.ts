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
   * Like `text`, but also removes the variable from the environment, so that no child process
   * inherits it and no crash report contains it.
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
    return value;
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
      if (value === undefined) throw new SettingsError(`${name} must be set`);
      return value;
    },
  };
}
