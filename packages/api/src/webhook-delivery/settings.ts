import type { AddressRules } from '@gantry/daemon/address-rules';
import { SettingsError, type SettingsReader } from '@gantry/daemon/settings';

/** Which addresses the webhooks of a project, or of the operators if it is null, may be sent to. */
export type WebhookRules = (projectId: string | null) => AddressRules;

const NETWORKS = {
  public: () => ({ allowsPrivate: false, allowsLoopback: false }),
  'private-for-operators': (projectId) => ({
    ...{ allowsPrivate: projectId === null, allowsLoopback: false },
  }),
  any: () => ({ allowsPrivate: true, allowsLoopback: true }),
} as const satisfies Record<string, WebhookRules>;

export function readWebhookSettings(reader: SettingsReader) {
  const name = 'GANTRY_WEBHOOK_NETWORKS';
  const networks = reader.text(name, 'public');
  const rulesOf = Object.hasOwn(NETWORKS, networks) && NETWORKS[networks as keyof typeof NETWORKS];
  if (!rulesOf) {
    const known = Object.keys(NETWORKS).join(', ');
    throw new SettingsError(`${name} must be one of ${known}, not "${networks}"`);
  }
  return {
    rulesOf: rulesOf as WebhookRules,
    replyMs: reader.integer('GANTRY_WEBHOOK_TIMEOUT_MS', {
      ...{ fallback: 10_000, min: 100, max: 60_000 },
    }),
    retryMs: reader.integer('GANTRY_WEBHOOK_RETRY_MS', {
      ...{ fallback: 5_000, min: 1, max: 600_000 },
    }),
  };
}
