import { readImageNetworks } from '@gantry/daemon/image-networks';
import { readMetricsAddress } from '@gantry/daemon/metrics/serve-metrics';
import { createSettingsReader, type SettingsReader } from '@gantry/daemon/settings';
import { readTracingSettings } from '@gantry/daemon/tracing/start-tracing';
import type { Retention } from '@gantry/db/queries/maintenance/remove-history';
import { DEFAULT_RETENTION } from './clean-up.ts';
import type { LostHostPolicy } from './fencing/fence-lost-hosts.ts';
import { RULES_SETTING, readHealthRules } from './health/read-rules.ts';
import {
  BUCKET_SECRET,
  readBucketSettings,
} from './storage/backup-files/bucket/bucket-settings.ts';

const DAY_S = 86_400;
const METRICS_PORT = 7481;

export const SCHEDULER_SECRETS = [
  ...['DATABASE_URL', 'GANTRY_SECRET_KEY', 'GANTRY_FLEET_KEY'],
  BUCKET_SECRET,
];

/** The scheduler's settings, read from the environment; docs/operators/settings.md lists them. */
export function readSchedulerSettings() {
  const reader = createSettingsReader();
  const backupDirectory = reader.optional('GANTRY_BACKUP_DIRECTORY');
  return {
    databaseUrl: reader.secret('DATABASE_URL'),
    databaseConnections: reader.integer('GANTRY_DATABASE_CONNECTIONS', {
      fallback: 10,
      min: 3,
      max: 200,
    }),
    secretKey: reader.secret('GANTRY_SECRET_KEY'),
    /** Seals the key of the fleet's authority. No api process has it. */
    fleetKey: reader.optionalSecret('GANTRY_FLEET_KEY'),
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
    /** A directory with the keys of storage clusters. */
    imageNetworks: readImageNetworks(reader),
    imageUploads: reader.optional('GANTRY_IMAGE_UPLOADS_DIRECTORY'),
    /** A directory for images of projects, which all schedulers reach. */
    imageStoreDirectory: reader.optional('GANTRY_IMAGE_STORE_DIRECTORY'),
    storageKeysDirectory: reader.optional('GANTRY_STORAGE_KEYS_DIRECTORY'),
    /** A directory for backups of disks, which all schedulers reach; with a bucket, for files on their way to it. */
    backupDirectory,
    backupBucket: readBucketSettings(reader, backupDirectory),
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
    lostHosts: readLostHostPolicy(reader),
    metrics: readMetricsAddress(reader, METRICS_PORT),
    tracing: readTracingSettings(reader),
    /** The fleet's figures for Prometheus are read from the database at most this often. */
    fleetMetricsMs:
      1_000 * reader.integer('GANTRY_FLEET_METRICS_S', { fallback: 10, min: 1, max: 3_600 }),
    retention: readRetention(reader),
    healthRules: readHealthRules(reader.optional(RULES_SETTING)),
  };
}

function readLostHostPolicy(reader: SettingsReader): LostHostPolicy {
  const name = 'GANTRY_FENCE_LOST_HOSTS_AFTER_S';
  // A shorter time would fence hosts that only reboot.
  const afterMs = 1_000 * reader.integer(name, { fallback: 0, min: 60, max: DAY_S });
  return {
    afterMs: afterMs === 0 ? null : afterMs,
    mostLost: reader.integer('GANTRY_FENCE_LOST_HOSTS_MAX', { fallback: 1, min: 1, max: 1_000 }),
  };
}

/** The longest is as good as for ever. */
const MAX_DAYS = 36_500;
/** The month of an invoice and the one after it, in which the invoice is questioned. */
const MIN_METERING_DAYS = 62;

function readRetention(reader: SettingsReader): Retention {
  const days = (name: string, fallback: number, min = 1) =>
    reader.integer(name, { fallback, min, max: MAX_DAYS });
  return {
    operations: days('GANTRY_KEEP_OPERATIONS_DAYS', DEFAULT_RETENTION.operations),
    events: days('GANTRY_KEEP_EVENTS_DAYS', DEFAULT_RETENTION.events),
    auditLogs: days('GANTRY_KEEP_AUDIT_LOGS_DAYS', DEFAULT_RETENTION.auditLogs),
    receipts: days('GANTRY_KEEP_RECEIPTS_DAYS', DEFAULT_RETENTION.receipts),
    metering: days('GANTRY_KEEP_METERING_DAYS', DEFAULT_RETENTION.metering, MIN_METERING_DAYS),
    streamEvents: days('GANTRY_KEEP_STREAM_EVENTS_DAYS', DEFAULT_RETENTION.streamEvents),
    webhookDeliveries: days(
      'GANTRY_KEEP_WEBHOOK_DELIVERIES_DAYS',
      DEFAULT_RETENTION.webhookDeliveries,
    ),
  };
}
