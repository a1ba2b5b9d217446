import type { StreamEventType } from '@gantry/model/states';
import type { Queryable } from '../../connect.ts';
import { inPage, type NamedPageBounds, pageOrder } from '../page-bounds.ts';

/** What tenants and operators write about webhooks. A webhook of operators has no project. */

export type WebhookRow = {
  id: string;
  name: string;
  url: string;
  event_types: StreamEventType[];
  description: string;
  tags: Record<string, string>;
  disabled_at: Date | null;
  disabled_reason: string;
  old_secret_until: Date | null;
  created_at: Date;
};

/** A project, or null for the operators. */
export type WebhookOwner = { projectId: string | null };
export type WebhookId = WebhookOwner & { webhookId: string };

const columns = (sql: Queryable) =>
  sql`id, name, url, event_types, description, tags, disabled_at, disabled_reason, old_secret_until, created_at`;

/** Separate conditions, so that both use the index. */
const ownedBy = (sql: Queryable, { projectId }: WebhookOwner) =>
  projectId === null ? sql`project_id is null` : sql`project_id = ${projectId}`;
const isWebhook = (sql: Queryable, { webhookId, ...owner }: WebhookId) =>
  sql`id = ${webhookId} and ${ownedBy(sql, owner)}`;

/** Serialises the creation of webhooks of one owner. */
export async function lockWebhookOwner(sql: Queryable, { projectId }: WebhookOwner): Promise<void> {
  if (projectId === null)
    await sql`select pg_advisory_xact_lock(hashtext('webhooks of operators'))`;
  else await sql`select from projects where id = ${projectId} for no key update`;
}

export async function countWebhooks(sql: Queryable, owner: WebhookOwner): Promise<number> {
  const [row] = await sql<{ webhooks: number }[]>`
    select count(*)::int as webhooks from webhooks where ${ownedBy(sql, owner)}`;
  return row?.webhooks ?? 0;
}

export type NewWebhook = WebhookOwner &
  Pick<WebhookRow, 'id' | 'name' | 'url' | 'event_types' | 'description' | 'tags'> & {
    sealedSecret: string;
    createdAt: Date;
  };

/** The webhook gets the events of transactions that have not ended yet, and of all later ones. */
export async function insertWebhook(sql: Queryable, webhook: NewWebhook): Promise<WebhookRow> {
  const { id, projectId, name, url, event_types, description, tags, sealedSecret, createdAt } =
    webhook;
  const [row] = await sql<WebhookRow[]>`
    insert into webhooks (id, project_id, name, url, event_types, description, tags, sealed_secret, created_at)
    values (${id}, ${projectId}, ${name}, ${url}, ${event_types}::text[], ${description}, ${JSON.stringify(tags)}::text::jsonb,
      ${sealedSecret}, ${createdAt})
    returning ${columns(sql)}`;
  if (!row) throw new Error('BUG: the new webhook was not returned');
  await sql`insert into webhook_queues (webhook_id, era, xid, number)
    select ${id}, era, pg_snapshot_xmin(pg_current_snapshot()), 0 from installation`;
  return row;
}

export type WebhookListing = WebhookOwner &
  NamedPageBounds & {
    ids: string[] | null;
    names: string[] | null;
    tags: Record<string, string>[];
    limit: number;
  };

export async function listWebhooks(
  sql: Queryable,
  { ids, names, tags, limit, projectId, ...page }: WebhookListing,
): Promise<WebhookRow[]> {
  return await sql<WebhookRow[]>`select ${columns(sql)} from webhooks
    where ${ownedBy(sql, { projectId })} and ${inPage(sql, page)}
      ${ids === null ? sql`` : sql`and id = any(${ids}::uuid[])`}
      ${names === null ? sql`` : sql`and name = any(${names}::text[])`}
      ${tags.length === 0 ? sql`` : tags.map((tag) => sql`and tags @> ${JSON.stringify(tag)}::text::jsonb`)}
    order by ${pageOrder(sql, page)} limit ${limit}`;
}

export async function readWebhook(sql: Queryable, id: WebhookId): Promise<WebhookRow | undefined> {
  const [row] = await sql<WebhookRow[]>`
    select ${columns(sql)} from webhooks where ${isWebhook(sql, id)}`;
  return row;
}

/** Without a value, a member stays as it is. */
export type WebhookChange = {
  name?: string | undefined;
  url?: string | undefined;
  event_types?: StreamEventType[] | undefined;
  description?: string | undefined;
  tags?: Record<string, string> | undefined;
};

export async function updateWebhook(
  sql: Queryable,
  { change, ...id }: WebhookId & { change: WebhookChange },
): Promise<WebhookRow | undefined> {
  const { name, url, event_types, description, tags } = change;
  const [row] = await sql<WebhookRow[]>`
    update webhooks set name = coalesce(${name ?? null}, name), url = coalesce(${url ?? null}, url),
      event_types = coalesce(${event_types ?? null}::text[], event_types),
      description = coalesce(${description ?? null}, description),
      tags = coalesce(${tags === undefined ? null : JSON.stringify(tags)}::text::jsonb, tags)
    where ${isWebhook(sql, id)} returning ${columns(sql)}`;
  return row;
}

/** The secret that was valid until now stays valid for some time. One that is older ends at once. */
export async function updateWebhookSecret(
  sql: Queryable,
  { sealedSecret, oldForMs, ...id }: WebhookId & { sealedSecret: string; oldForMs: number },
): Promise<WebhookRow | undefined> {
  const [row] = await sql<WebhookRow[]>`
    update webhooks set sealed_old_secret = sealed_secret, sealed_secret = ${sealedSecret},
      old_secret_until = now() + ${oldForMs} * interval '1 millisecond'
    where ${isWebhook(sql, id)} returning ${columns(sql)}`;
  return row;
}

/** The queue is locked first, as in `webhook-queue.ts`. */
export async function removeWebhook(
  sql: Queryable,
  id: WebhookId,
): Promise<WebhookRow | undefined> {
  await sql`select from webhook_queues where webhook_id = ${id.webhookId} for update`;
  const [row] = await sql<WebhookRow[]>`
    delete from webhooks where ${isWebhook(sql, id)} returning ${columns(sql)}`;
  return row;
}
