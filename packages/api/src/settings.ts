import { readImageNetworks } from '@gantry/daemon/image-networks';
import { createSettingsReader } from '@gantry/daemon/settings';
import { readJoinSettings } from './join/join-settings.ts';
import { readWebhookSettings } from './webhook-delivery/settings.ts';

export type ApiSettings = ReturnType<typeof readApiSettings>;

export const API_SECRETS = [
  'DATABASE_URL',
  'GANTRY_SECRET_KEY',
  'STRIPE_SECRET_KEY',
  'STRIPE_WEBHOOK_SECRET',
];

/** Reads the settings of the api from the environment. docs/operators/settings.md lists them. */
export function readApiSettings() {
  const reader = createSettingsReader();
  const limit = { min: 1, max: 1_000_000 };
  const perSecond = reader.integer('GANTRY_RATE_LIMIT', { ...limit, fallback: 50 });
  const burst = reader.integer('GANTRY_RATE_BURST', { ...limit, fallback: 200 });
  return {
    databaseUrl: reader.secret('DATABASE_URL'),
    /** Encrypts signing keys and signs billing links. All api processes must have the same key. */
    secretKey: reader.secret('GANTRY_SECRET_KEY'),
    host: reader.text('GANTRY_HOST', '127.0.0.1'),
    port: reader.integer('GANTRY_PORT', { fallback: 8080, min: 0, max: 65_535 }),
    /**
     * The URL of the api in the links that it creates; by default the address that it listens on.
     */
    publicUrl: reader.optional('GANTRY_PUBLIC_URL'),
    joining: readJoinSettings(reader),
    logLevel: reader.text('GANTRY_LOG_LEVEL', 'info'),
    databaseConnections: reader.integer('GANTRY_DATABASE_CONNECTIONS', {
      fallback: 10,
      min: 1,
      max: 200,
    }),
    rateLimit: { perSecond, burst },
    /** For all credentials of an organization together. */
    organizationRateLimit: {
      perSecond: reader.integer('GANTRY_ORGANIZATION_RATE_LIMIT', {
        ...limit,
        fallback: 4 * perSecond,
      }),
      burst: reader.integer('GANTRY_ORGANIZATION_RATE_BURST', { ...limit, fallback: 4 * burst }),
    },
    /** How many event streams of an organization, or of an operator, this process keeps open. */
    organizationEventStreams: reader.integer('GANTRY_ORGANIZATION_EVENT_STREAMS', {
      fallback: 200,
      min: 1,
      max: 10_000,
    }),
    webhooks: readWebhookSettings(reader),
    imageNetworks: readImageNetworks(reader),
    /** Api processes and schedulers share this directory. */
    imageUploads: reader.optional('GANTRY_IMAGE_UPLOADS_DIRECTORY'),
    /** Only schedulers use the directory. The api accepts images for it. */
    hasImageStore: reader.optional('GANTRY_IMAGE_STORE_DIRECTORY') !== undefined,
    /** Before authentication. Many clients may share one address. */
    sourceRateLimit: {
      perSecond: reader.integer('GANTRY_SOURCE_RATE_LIMIT', { ...limit, fallback: 10 * perSecond }),
      burst: reader.integer('GANTRY_SOURCE_RATE_BURST', { ...limit, fallback: 10 * burst }),
    },
    /** How many proxies append to X-Forwarded-For. With 0, the peer's address is the client's. */
    trustedProxies: reader.integer('GANTRY_TRUSTED_PROXIES', { fallback: 0, min: 0, max: 10 }),
    /** The default is long enough for a large image on a slow link. */
    operationDeadlineMs:
      1_000 * reader.integer('GANTRY_OPERATION_DEADLINE_S', { fallback: 600, min: 1, max: 86_400 }),
    signingKeyDays: reader.integer('GANTRY_SIGNING_KEY_DAYS', { fallback: 30, min: 1, max: 365 }),
    stripe: {
      secretKey: reader.optionalSecret('STRIPE_SECRET_KEY'),
      apiUrl: reader.optional('STRIPE_API_URL'),
      webhookSecret: reader.optionalSecret('STRIPE_WEBHOOK_SECRET'),
      priceId: reader.optional('STRIPE_PRICE_ID'),
      meterEventName: reader.text('STRIPE_METER_EVENT', 'gantry_usage_micro_usd'),
    },
    /** How long after a failed payment an organization is suspended. */
    paymentGraceMs:
      86_400_000 * reader.integer('GANTRY_PAYMENT_GRACE_DAYS', { fallback: 7, min: 0, max: 90 }),
  };
}
