import { readConfig } from '@gantry/daemon/config';
import { RULES_SETTING, readHealthRules } from './health/read-rules.ts';

export type SchedulerConfig = ReturnType<typeof readSchedulerConfig>;

const DAY_S = 86_400;

/** Everything the scheduler can be told, from the environment. docs/configuration.md lists it for operators. */
export function readSchedulerConfig() {
  const config = readConfig();
  return {
    databaseUrl: config.secret('DATABASE_URL'),
    databaseConnections: config.integer('GANTRY_DATABASE_CONNECTIONS', {
      fallback: 10,
      min: 3,
      max: 200,
    }),
    secretKey: config.secret('GANTRY_SECRET_KEY'),
    fleet: {
      host: config.text('GANTRY_FLEET_HOST', '127.0.0.1'),
      port: config.integer('GANTRY_FLEET_PORT', { fallback: 7443, min: 0, max: 65_535 }),
      names: config
        .text('GANTRY_FLEET_NAMES', 'localhost,127.0.0.1')
        .split(',')
        .map((name) => name.trim())
        .filter((name) => name !== ''),
      /** For consoles: where api processes reach this very scheduler; it must be one of the names. */
      address: config.optional('GANTRY_FLEET_ADDRESS'),
    },
    authority: {
      certFile: config.optional('GANTRY_CA_CERT_FILE'),
      keyFile: config.optional('GANTRY_CA_KEY_FILE'),
    },
    certificateTtlMs:
      1_000 *
      config.integer('GANTRY_CERTIFICATE_TTL_S', {
        fallback: 90 * DAY_S,
        min: 30,
        max: 3_650 * DAY_S,
      }),
    leaseTtlMs: config.integer('GANTRY_LEASE_TTL_MS', { fallback: 3_000, min: 300, max: 60_000 }),
    unreachableAfterMs: config.integer('GANTRY_UNREACHABLE_AFTER_MS', {
      fallback: 30_000,
      min: 500,
      max: 3_600_000,
    }),
    healthRules: readHealthRules(config.optional(RULES_SETTING)),
  };
}
