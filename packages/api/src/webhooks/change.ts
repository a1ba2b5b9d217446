import { type AddressRules, urlProblem } from '@gantry/daemon/address-rules';
import type { Secrets } from '@gantry/daemon/secrets';
import type { Queryable } from '@gantry/db/connect';
import { WEBHOOK_SECRET_PURPOSE } from '@gantry/db/queries/tenants/sealed';
import {
  countWebhooks,
  insertWebhook,
  lockWebhookOwner,
  readWebhook,
  removeWebhook,
  updateWebhook,
  updateWebhookSecret,
  type WebhookChange,
  type WebhookId,
  type WebhookOwner,
  type WebhookRow,
} from '@gantry/db/queries/webhooks/webhooks';
import { badRequest, CloudError, found } from '@gantry/model/errors';
import { newId } from '@gantry/model/ids';
import type { z } from '@hono/zod-openapi';
import { newWebhookSecret } from '../webhook-delivery/sign.ts';
import type { CreateAdminWebhook } from './schema.ts';

/** Of a project, or of all operators: each webhook stores its own copy of the events. */
const MOST_WEBHOOKS = 10;
/** Receivers have a day to get to know the new secret. */
const OLD_SECRET_MS = 86_400_000;

type Context = { sql: Queryable; secrets: Secrets; rules: AddressRules; now: Date };
type WithSecret = { row: WebhookRow; secret: string };

export async function createWebhook(
  { sql, secrets, rules, now }: Context,
  owner: WebhookOwner,
  { tags = {}, ...body }: z.output<typeof CreateAdminWebhook>,
): Promise<WithSecret> {
  requireUrl(body.url, rules);
  await lockWebhookOwner(sql, owner);
  if ((await countWebhooks(sql, owner)) >= MOST_WEBHOOKS) {
    throw new CloudError(
      'conflict',
      `there are ${MOST_WEBHOOKS} webhooks, which is the most: delete one first`,
    );
  }
  const secret = newWebhookSecret();
  const row = await insertWebhook(sql, {
    ...{ ...owner, ...body, tags, id: newId(now.getTime()), createdAt: now },
    event_types: [...new Set(body.event_types)],
    sealedSecret: secrets.seal(WEBHOOK_SECRET_PURPOSE, secret),
  });
  return { row, secret };
}

export async function changeWebhook(
  { sql, rules }: Pick<Context, 'sql' | 'rules'>,
  id: WebhookId,
  change: WebhookChange,
): Promise<WebhookRow> {
  if (change.url !== undefined) requireUrl(change.url, rules);
  const types = change.event_types && { event_types: [...new Set(change.event_types)] };
  return found(await updateWebhook(sql, { ...id, change: { ...change, ...types } }), 'webhook');
}

export async function rotateSecret(
  { sql, secrets }: Pick<Context, 'sql' | 'secrets'>,
  id: WebhookId,
): Promise<WithSecret> {
  const secret = newWebhookSecret();
  const sealedSecret = secrets.seal(WEBHOOK_SECRET_PURPOSE, secret);
  const row = await updateWebhookSecret(sql, { ...id, sealedSecret, oldForMs: OLD_SECRET_MS });
  return { row: found(row, 'webhook'), secret };
}

export async function deleteWebhook(sql: Queryable, id: WebhookId): Promise<WebhookRow> {
  found(await readWebhook(sql, id), 'webhook');
  return found(await removeWebhook(sql, id), 'webhook');
}

function requireUrl(url: string, rules: AddressRules): void {
  const reason = urlProblem(url, rules);
  if (reason) throw badRequest([{ field: 'url', reason }]);
}
