import { readConfig } from '@gantry/daemon/config';

export type ApiConfig = ReturnType<typeof readApiConfig>;

/** Everything the api can be told, from the environment. docs/configuration.md lists it for operators. */
export function readApiConfig() {
  const config = readConfig();
  return {
    databaseUrl: config.secret('DATABASE_URL'),
    /** Seals signing keys and signs billing links; the same for every api of an installation. */
    secretKey: config.secret('GANTRY_SECRET_KEY'),
    host: config.text('GANTRY_HOST', '127.0.0.1'),
    port: config.integer('GANTRY_PORT', { fallback: 8080, min: 0, max: 65_535 }),
    /** Where clients reach the api, for links it hands out; empty means where it listens. */
    publicUrl: config.optional('GANTRY_PUBLIC_URL'),
    logLevel: config.text('GANTRY_LOG_LEVEL', 'info'),
    databaseConnections: config.integer('GANTRY_DATABASE_CONNECTIONS', {
      fallback: 10,
      min: 1,
      max: 200,
    }),
    rateLimit: {
      perSecond: config.integer('GANTRY_RATE_LIMIT', { fallback: 50, min: 1, max: 1_000_000 }),
      burst: config.integer('GANTRY_RATE_BURST', { fallback: 200, min: 1, max: 1_000_000 }),
    },
    /** How many proxies in front add to X-Forwarded-For; 0 takes the peer's address. */
    trustedProxies: config.integer('GANTRY_TRUSTED_PROXIES', { fallback: 0, min: 0, max: 10 }),
    /** Long enough for a large image on a slow link; a day at most. */
    operationDeadlineMs:
      1_000 * config.integer('GANTRY_OPERATION_DEADLINE_S', { fallback: 600, min: 1, max: 86_400 }),
    signingKeyDays: config.integer('GANTRY_SIGNING_KEY_DAYS', { fallback: 30, min: 1, max: 365 }),
    stripe: {
      secretKey: config.optionalSecret('STRIPE_SECRET_KEY'),
      apiUrl: config.optional('STRIPE_API_URL'),
    },
  };
}
