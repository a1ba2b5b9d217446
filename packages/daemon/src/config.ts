/** Environment -> typed values. Every process reads its configuration once, at start, through here. */

type Environment = Record<string, string | undefined>;

export class ConfigError extends Error {
  override name = 'ConfigError';
}

export type ConfigReader = {
  text(name: string, fallback?: string): string;
  optional(name: string): string | undefined;
  integer(name: string, limits: { fallback: number; min: number; max: number }): number;
  /** Like `text`, and removes the variable, so that no child and no crash report carries it on. */
  secret(name: string): string;
  optionalSecret(name: string): string | undefined;
};

export function readConfig(env: Environment = process.env): ConfigReader {
  const optional = (name: string) => env[name] || undefined;
  const text = (name: string, fallback?: string) => {
    const value = optional(name) ?? fallback;
    if (value === undefined) throw new ConfigError(`${name} must be set`);
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
        throw new ConfigError(`${name} must be a whole number from ${min} to ${max}, not "${raw}"`);
      }
      return value;
    },
    secret(name) {
      const value = optionalSecret(name);
      if (value === undefined) throw new ConfigError(`${name} must be set`);
      return value;
    },
  };
}
