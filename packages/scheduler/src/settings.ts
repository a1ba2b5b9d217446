import { createSettingsReader } from '@gantry/daemon/settings';
import { RULES_SETTING, readHealthRules } from './health/read-rules.ts';

const DAY_S = 86_400;

/** The scheduler's settings, read from the environment; docs/operators/settings.md lists them. */
export function readSchedulerSettings() {
  const reader = createSettingsReader();
  return {
    databaseUrl: reader.secret('DATABASE_URL'),
    databaseConnections: reader.integer('GANTRY_DATABASE_CONNECTIONS', {
      fallback: 10,
      min: 3,
      max: 200,
    }),
    secretKey: reader.secret('GANTRY_SECRET_KEY'),
    fleet: {
      host: reader.text('GANTRY_FLEET_HOST', '127.0.0.1'),
      port: reader.integer('GANTRY_FLEET_PORT', { fallback: 7443, min: 0, max: 65_535 }),
      names: reader
        .text('GANTRY_FLEET_NAMES', 'localhost,127.0.0.1')
        .split(',')
        .map((name) => name.trim())
        .filter((name) => name !== ''),
      /** Where api processes reach this scheduler for consoles. It must be one of the names. */
      address: reader.optional('GANTRY_FLEET_ADDRESS'),
    },
    authority: {
      certFile: reader.optional('GANTRY_CA_CERT_FILE'),
      keyFile: reader.optional('GANTRY_CA_KEY_FILE'),
    },
    certificateTtlMs:
      1_000 *
      reader.integer('GANTRY_CERTIFICATE_TTL_S', {
        fallback: 90 * DAY_S,
        min: 30,
        max: 3_650 * DAY_S,
      }),
    leaseTtlMs: reader.integer('GANTRY_LEASE_TTL_MS', { fallback: 3_000, min: 300, max: 60_000 }),
    unreachableAfterMs: reader.integer('GANTRY_UNREACHABLE_AFTER_MS', {
      fallback: 30_000,
      min: 500,
      max: 3_600_000,
    }),
    healthRules: readHealthRules(reader.optional(RULES_SETTING)),
  };
}
