import type { RolloutHostState, RolloutState } from '@gantry/model/rollouts';
import type { Queryable } from '../../connect.ts';
import { type IdListing, idOrder, listedByIds } from '../listing.ts';
import { FIRST_ID } from '../page-bounds.ts';

/** Rollouts as operators create, read and change them. */

export type NewRollout = {
  id: string;
  version: string;
  labels: Record<string, string>;
  canaryCount: number;
  batchSize: number;
  hostTimeLimitS: number;
  maxFailures: number;
  createdBy: string;
  createdAt: Date;
};

export type RolloutRow = {
  id: string;
  version: string;
  labels: Record<string, string>;
  canary_count: number;
  batch_size: number;
  host_time_limit_s: number;
  max_failures: number;
  state: RolloutState;
  state_reason: string;
  wave: number;
  last_wave: number;
  counts: Partial<Record<RolloutHostState, number>>;
  created_at: Date;
  ended_at: Date | null;
};

/**
 * Inserts a rollout with its hosts: the canaries are wave 0, and the other hosts follow in batches, in the order of
 * their names. Fenced hosts are not selected. Returns the number of hosts. A host that is in another active rollout
 * violates `rollout_hosts_active_key`.
 */
export async function insertRollout(sql: Queryable, rollout: NewRollout): Promise<number> {
  const { id, canaryCount, batchSize } = rollout;
  const labels = JSON.stringify(rollout.labels);
  await sql`insert into rollouts (id, version, labels, canary_count, batch_size, host_time_limit_s, max_failures,
      created_by, created_at)
    values (${id}, ${rollout.version}, ${labels}::text::jsonb, ${canaryCount}, ${batchSize}, ${rollout.hostTimeLimitS},
      ${rollout.maxFailures}, ${rollout.createdBy}, ${rollout.createdAt})`;
  const { count } = await sql`insert into rollout_hosts (rollout_id, host_id, wave)
    select ${id}::uuid, id, case when n <= ${canaryCount}::int then 0
      else 1 + (n - 1 - ${canaryCount}::int) / ${batchSize}::int end
    from (select id, row_number() over (order by name) as n from hosts
      where labels @> ${labels}::text::jsonb and fenced_at is null and state <> 'fenced') h
    order by id`;
  return count;
}

const rolloutColumns = (
  sql: Queryable,
) => sql`o.id, o.version, o.labels, o.canary_count, o.batch_size,
  o.host_time_limit_s, o.max_failures, o.state, o.state_reason, o.wave, o.created_at, o.ended_at,
  (select coalesce(max(u.wave), 0) from rollout_hosts u where u.rollout_id = o.id) as last_wave,
  (select coalesce(json_object_agg(c.state, c.hosts), '{}') from (select u.state, count(*)::int as hosts
    from rollout_hosts u where u.rollout_id = o.id group by u.state) c) as counts`;

export async function readRollout(sql: Queryable, id: string): Promise<RolloutRow | undefined> {
  const [row] = await sql<RolloutRow[]>`
    select ${rolloutColumns(sql)} from rollouts o where o.id = ${id}`;
  return row;
}

/** Reads the rollout and locks it, so that the scheduler does nothing with it until the transaction ends. */
export async function lockRollout(sql: Queryable, id: string): Promise<RolloutRow | undefined> {
  // The lock has its own statement: a statement's snapshot is older than a lock it waits for.
  await sql`select from rollouts where id = ${id} for no key update`;
  return await readRollout(sql, id);
}

export async function listRollouts(sql: Queryable, listing: IdListing): Promise<RolloutRow[]> {
  return await sql<RolloutRow[]>`
    select ${rolloutColumns(sql)} from rollouts o where ${listedByIds(sql, listing, sql`o.`)}
    ${idOrder(sql, listing, sql`o.`)}`;
}

export type RolloutHostRow = {
  /** The id of the host. */
  id: string;
  name: string;
  wave: number;
  state: RolloutHostState;
  reason: string;
  from_version: string;
  /** What the host reported last; empty before its first report. */
  agent_version: string;
  ordered_at: Date | null;
  ended_at: Date | null;
};

export async function listRolloutHosts(
  sql: Queryable,
  filter: {
    rolloutId: string;
    state: RolloutHostState | null;
    after: string | null;
    limit: number;
  },
): Promise<RolloutHostRow[]> {
  return await sql<RolloutHostRow[]>`
    select h.id, h.name, u.wave, u.state, u.reason, u.from_version, u.ordered_at, u.ended_at,
      coalesce(h.inventory #>> '{software,agent}', '') as agent_version
    from rollout_hosts u join hosts h on h.id = u.host_id
    where u.rollout_id = ${filter.rolloutId} and u.host_id > ${filter.after ?? FIRST_ID}
      and (${filter.state}::text is null or u.state = ${filter.state})
    order by u.host_id limit ${filter.limit}`;
}

/** Writes the state that an operator asked for. The caller has locked the rollout. */
export async function updateRolloutState(
  sql: Queryable,
  { id, state, reason }: { id: string; state: RolloutState; reason: string },
): Promise<void> {
  await sql`update rollouts set state = ${state}, state_reason = ${reason}, ended_at = null where id = ${id}`;
}

/** The hosts that have failed so far do not pause the rollout again. */
export async function forgiveFailures(sql: Queryable, id: string): Promise<void> {
  await sql`update rollouts set forgiven_failures = (select count(*) from rollout_hosts
    where rollout_id = ${id} and state = 'failed') where id = ${id}`;
}

/**
 * The hosts of an ended rollout that were told to change are part of it again. A host that is in another active
 * rollout by now violates `rollout_hosts_active_key`.
 */
export async function reviveRolloutHosts(sql: Queryable, id: string): Promise<void> {
  await sql`update rollout_hosts set active = true
    where rollout_id = ${id} and order_id is not null and not active`;
}
