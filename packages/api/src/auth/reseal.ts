import type { Log } from '@gantry/daemon/log';
import type { Secrets } from '@gantry/daemon/secrets';
import type { Sql } from '@gantry/db/connect';
import {
  listSealedOldWebhookSecrets,
  listSealedSigningKeys,
  listSealedTotps,
  listSealedWebhookSecrets,
  type SealedChange,
  type SealedRow,
  SIGNING_KEY_PURPOSE,
  TOTP_PURPOSE,
  updateSealedOldWebhookSecret,
  updateSealedSigningKey,
  updateSealedTotp,
  updateSealedWebhookSecret,
  WEBHOOK_SECRET_PURPOSE,
} from '@gantry/db/queries/tenants/sealed';

type Resealing = { sql: Sql; secrets: Secrets; log: Log };

/** The stored values of one purpose. */
type Kind = {
  purpose: string;
  list(sql: Sql): Promise<SealedRow[]>;
  update(sql: Sql, change: SealedChange): Promise<void>;
};

const KINDS: readonly Kind[] = [
  {
    purpose: SIGNING_KEY_PURPOSE,
    list: listSealedSigningKeys,
    update: updateSealedSigningKey,
  },
  { purpose: TOTP_PURPOSE, list: listSealedTotps, update: updateSealedTotp },
  {
    purpose: WEBHOOK_SECRET_PURPOSE,
    list: listSealedWebhookSecrets,
    update: updateSealedWebhookSecret,
  },
  {
    purpose: WEBHOOK_SECRET_PURPOSE,
    list: listSealedOldWebhookSecrets,
    update: updateSealedOldWebhookSecret,
  },
];

/**
 * Seals what is stored with the first secret key, so that older keys can be removed from the
 * settings. Each value is replaced only if it is still the one that was read, so that any number of
 * processes can do this at the same time, and a crash leaves every value readable. A value that no
 * key opens is left as it is and does not hold up the others.
 */
export async function resealStoredSecrets({ sql, secrets, log }: Resealing): Promise<void> {
  let count = 0;
  let unreadable = 0;
  for (const { purpose, list, update } of KINDS) {
    for (const { id, sealed } of await list(sql)) {
      let again: string | undefined;
      try {
        again = secrets.reseal(purpose, sealed);
      } catch {
        unreadable += 1;
      }
      if (again === undefined) continue;
      await update(sql, { id, from: sealed, to: again });
      count += 1;
    }
  }
  if (count > 0) log.info({ count }, 'stored secrets sealed with the first secret key');
  if (unreadable > 0) {
    log.warn({ count: unreadable }, 'stored secrets that no line of GANTRY_SECRET_KEY opens');
  }
}
