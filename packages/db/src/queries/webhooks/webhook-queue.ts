import type { StreamEventType } from '@gantry/model/states';
import type { Queryable } from '../../connect.ts';
import type { StreamPosition } from '../operations/stream-events.ts';

/**
 * The queues of webhooks. A process that has the lease of a queue adds the deliveries of new events, sends them and records
 * how that ended, always under the lock of the queue's row. The row is locked before that of the webhook.
 */

export type PollState = {
  hasWebhooks: boolean;
  /** All events of earlier transactions were considered. */
  horizon: string;
  /** Webhooks that have new events, or that missed some. */
  woken: string[];
};

/**
 * Finds the webhooks to which events are to be sent. Between `since`, the horizon of the last call, and now it looks at new
 * events only. Without `since` it compares every webhook with the stream.
 */
export async function findWoken(sql: Queryable, since: string | null): Promise<PollState> {
  const isNew = since === null ? sql`true` : sql`e.xid >= ${since}::text::xid8`;
  const isConcerned =
    since === null
      ? sql`true`
      : sql`(w.project_id is null or w.project_id = any(array(select distinct e.project_id from stream_events e
          where e.xid >= ${since}::text::xid8 and e.xid < s.horizon and e.project_id is not null)))`;
  const hasEvent = (owner: 'operators' | 'project') => sql`exists (select from stream_events e
    where ${isNew} and ${owner === 'project' ? sql`e.project_id = w.project_id` : sql`true`} and e.xid < s.horizon and (e.xid, e.number) > (q.xid, q.number)
      and (w.event_types = '{}' or e.type = any(w.event_types)))`;
  const [row] = await sql<{ has_webhooks: boolean; horizon: string; woken: string[] }[]>`
    select exists (select from webhooks) as has_webhooks, s.horizon::text,
      array(select w.id from webhooks w join webhook_queues q on q.webhook_id = w.id
        where ${isConcerned} and w.disabled_at is null
          and (q.era <> s.era or q.xid < s.since
            or case when w.project_id is null then ${hasEvent('operators')}
              else ${hasEvent('project')} end)) as woken
    from (select era, stream_since as since, pg_snapshot_xmin(pg_current_snapshot()) as horizon from installation) s`;
  if (!row) throw new Error('BUG: the table installation is empty');
  return { hasWebhooks: row.has_webhooks, horizon: row.horizon, woken: row.woken };
}

/**
 * Makes queues due. Also those that seem to be due already: the process that has the lease may have read the events
 * before the new ones and be about to commit. Its lock is waited for, so that it cannot overwrite this.
 */
export async function wakeQueues(sql: Queryable, webhookIds: string[]): Promise<void> {
  await sql`update webhook_queues set due_at = least(due_at, now()) where webhook_id in (select webhook_id
    from webhook_queues where webhook_id = any(${webhookIds}::uuid[]) order by webhook_id for no key update)`;
}

/**
 * Moves webhooks without new events to the present, so that the removal of old events does not look like a gap to them.
 * Rows that another process has locked are moved next time.
 */
export async function moveIdleQueues(sql: Queryable): Promise<void> {
  await sql`update webhook_queues set xid = i.horizon, number = 0
    from (select pg_snapshot_xmin(pg_current_snapshot()) as horizon) i
    where webhook_id in (select q.webhook_id from webhook_queues q join webhooks w on w.id = q.webhook_id,
        (select era, stream_since as since, pg_snapshot_xmin(pg_current_snapshot()) as horizon from installation) s
      where w.disabled_at is null and q.era = s.era and q.xid >= s.since and q.xid < s.horizon
        and not case when w.project_id is null
          then exists (select from stream_events e where e.xid < s.horizon and (e.xid, e.number) > (q.xid, q.number)
            and (w.event_types = '{}' or e.type = any(w.event_types)))
          else exists (select from stream_events e where e.project_id = w.project_id and e.xid < s.horizon
            and (e.xid, e.number) > (q.xid, q.number) and (w.event_types = '{}' or e.type = any(w.event_types))) end
      order by q.webhook_id for no key update of q skip locked)`;
}

export type Claimed = { webhookId: string; organizationId: string };

/** Leases queues that are due to a process. Those that have waited longest are first. */
export async function claimQueues(
  sql: Queryable,
  {
    holder,
    leaseMs,
    limit,
    busy,
  }: { holder: string; leaseMs: number; limit: number; busy: string[] },
): Promise<Claimed[]> {
  const rows = await sql<{ webhook_id: string; organization_id: string }[]>`
    with due as materialized (select q.webhook_id, coalesce(p.organization_id::text, '') as organization_id
      from webhook_queues q join webhooks w on w.id = q.webhook_id left join projects p on p.id = w.project_id
      where q.due_at <= now() and (q.leased_until is null or q.leased_until <= now())
        and coalesce(p.organization_id::text, '') <> all(${busy}::text[])
      order by q.due_at limit ${limit} for no key update of q skip locked)
    update webhook_queues q set leased_by = ${holder}, leased_until = now() + ${leaseMs} * interval '1 millisecond',
      due_at = now() + ${leaseMs} * interval '1 millisecond'
    from due where due.webhook_id = q.webhook_id returning q.webhook_id, due.organization_id`;
  return rows.map(({ webhook_id, organization_id }) => ({
    ...{ webhookId: webhook_id, organizationId: organization_id },
  }));
}

export type HeldQueue = {
  project_id: string | null;
  url: string;
  event_types: StreamEventType[];
  sealed_secret: string;
  /** Empty if there is none, or if it is not valid any more. */
  sealed_old_secret: string;
  is_disabled: boolean;
  era: string;
  position: StreamPosition;
  pending: number;
  /** Whether events are new, or a request has added a delivery. */
  is_woken: boolean;
  /** For how long nothing has succeeded; zero if the last delivery did. */
  failing_ms: number;
};

/** Locks a queue whose lease the process has. Returns undefined if it has lost the lease, or the webhook is gone. */
export async function lockHeldQueue(
  sql: Queryable,
  { webhookId, holder }: { webhookId: string; holder: string },
): Promise<HeldQueue | undefined> {
  const locked = await sql`select from webhook_queues
    where webhook_id = ${webhookId} and leased_by = ${holder} and leased_until > now() for no key update`;
  if (locked.length === 0) return undefined;
  const [row] = await sql<(Omit<HeldQueue, 'position'> & { xid: string; number: string })[]>`
    select w.project_id, w.url, w.event_types, w.sealed_secret,
      case when w.old_secret_until > now() then w.sealed_old_secret else '' end as sealed_old_secret,
      w.disabled_at is not null as is_disabled, q.era, q.xid::text, q.number, q.pending,
      -- A lease sets both to the same time. now() is when this transaction began, which may be before the wake.
      coalesce(q.due_at < q.leased_until, false) as is_woken,
      coalesce(extract(epoch from now() - q.failing_since) * 1000, 0)::float as failing_ms
    from webhook_queues q join webhooks w on w.id = q.webhook_id where q.webhook_id = ${webhookId}`;
  if (!row) return undefined;
  const { xid, number, ...queue } = row;
  return { ...queue, position: { xid: BigInt(xid), number: BigInt(number) } };
}

export type QueueProgress = {
  era: string;
  position: StreamPosition;
  pending: number;
  /** How the deliveries since the last call ended; null if none has. */
  outcome: 'succeeded' | 'failed' | null;
};

/** Stores where the queue is, and renews its lease. */
export async function keepQueue(
  sql: Queryable,
  { webhookId, leaseMs, ...progress }: QueueProgress & { webhookId: string; leaseMs: number },
): Promise<void> {
  await sql`update webhook_queues set ${stored(sql, progress)},
      leased_until = now() + ${leaseMs} * interval '1 millisecond', due_at = now() + ${leaseMs} * interval '1 millisecond'
    where webhook_id = ${webhookId}`;
}

/** Stores where the queue is, and gives its lease back. It is due when its next delivery is, or at once if `isDue`. */
export async function releaseQueue(
  sql: Queryable,
  { webhookId, isDue, ...progress }: QueueProgress & { webhookId: string; isDue: boolean },
): Promise<void> {
  await sql`update webhook_queues q set ${stored(sql, progress)}, leased_by = null, leased_until = null,
      due_at = case when w.disabled_at is not null then null when ${isDue} then now()
        else (select min(next_attempt_at) from webhook_deliveries
          where webhook_id = ${webhookId} and next_attempt_at is not null) end
    from webhooks w where q.webhook_id = ${webhookId} and w.id = q.webhook_id`;
}

const stored = (sql: Queryable, { era, position, pending, outcome }: QueueProgress) =>
  sql`era = ${era}::bigint, xid = ${String(position.xid)}::text::xid8, number = ${String(position.number)}::bigint,
    pending = ${pending}, failing_since = case ${outcome ?? ''} when 'succeeded' then null
      when 'failed' then coalesce(failing_since, now()) else failing_since end`;

/** The caller holds the lock of the queue. */
export async function disableWebhook(
  sql: Queryable,
  { webhookId, reason }: { webhookId: string; reason: string },
): Promise<void> {
  await sql`update webhooks set disabled_at = now(), disabled_reason = ${reason}
    where id = ${webhookId} and disabled_at is null`;
}
