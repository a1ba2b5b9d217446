import { createSettingsReader } from '@gantry/daemon/settings';

export type ApiSettings = ReturnType<typeof readApiSettings>;

/** The api's settings, read from the environment; docs/operators/settings.md lists them. */
export function readApiSettings() {
  const reader = createSettingsReader();
  return {
    databaseUrl: reader.secret('DATABASE_URL'),
    /** Seals signing keys and signs billing links; the same for every api of an installation. */
    secretKey: reader.secret('GANTRY_SECRET_KEY'),
    host: reader.text('GANTRY_HOST', '127.0.0.1'),
    port: reader.integer('GANTRY_PORT', { fallback: 8080, min: 0, max: 65_535 }),
    /** Where clients reach the api, for links it hands out; empty means where it listens. */
    publicUrl: reader.optional('GANTRY_PUBLIC_URL'),
    logLevel: reader.text('GANTRY_LOG_LEVEL', 'info'),
    databaseConnections: reader.integer('GANTRY_DATABASE_CONNECTIONS', {
      fallback: 10,
      min: 1,
      max: 200,
    }),
    rateLimit: {
      perSecond: reader.integer('GANTRY_RATE_LIMIT', { fallback: 50, min: 1, max: 1_000_000 }),
      burst: reader.integer('GANTRY_RATE_BURST', { fallback: 200, min: 1, max: 1_000_000 }),
    },
    /** How many proxies in front add to X-Forwarded-For; 0 takes the peer's address. */
    trustedProxies: reader.integer('GANTRY_TRUSTED_PROXIES', { fallback: 0, min: 0, max: 10 }),
    /** Long enough for a large image on a slow link; a day at most. */
    operationDeadlineMs:
      1_000 * reader.integer('GANTRY_OPERATION_DEADLINE_S', { fallback: 600, min: 1, max: 86_400 }),
    signingKeyDays: reader.integer('GANTRY_SIGNING_KEY_DAYS', { fallback: 30, min: 1, max: 365 }),
    stripe: {
      secretKey: reader.optionalSecret('STRIPE_SECRET_KEY'),
      apiUrl: reader.optional('STRIPE_API_URL'),
    },
  };
}
