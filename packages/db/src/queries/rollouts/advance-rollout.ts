import type { RolloutState } from '@gantry/model/rollouts';
import type { Queryable } from '../../connect.ts';

/**
 * The statements with which a scheduler carries out a rollout. The caller has locked the rollout. Times are those of
 * the database.
 */

export type UnfinishedRollout = {
  id: string;
  version: string;
  state: RolloutState;
  wave: number;
  batch_size: number;
  max_failures: number;
  forgiven_failures: number;
};

export async function listUnfinishedRollouts(sql: Queryable): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select id from rollouts where ended_at is null order by id`;
  return rows.map(({ id }) => id);
}

/** Returns undefined if the rollout has ended, or if another process works on it. */
export async function lockUnfinishedRollout(
  sql: Queryable,
  id: string,
): Promise<UnfinishedRollout | undefined> {
  const [row] = await sql<UnfinishedRollout[]>`
    select id, version, state, wave, batch_size, max_failures, forgiven_failures from rollouts
    where id = ${id} and ended_at is null for no key update skip locked`;
  return row;
}

const agentVersion = (sql: Queryable) => sql`coalesce(h.inventory #>> '{software,agent}', '')`;

const isConnected = (sql: Queryable) => sql`h.scheduler_id is not null and h.state = 'ready'`;

/** Its package manager may be at work for an earlier order, so its version may still change. */
const isInstalling = (
  sql: Queryable,
) => sql`coalesce(h.inventory #> '{software,upgrade,failure}' = 'null'
  and h.inventory #>> '{software,upgrade,version}' <> ${agentVersion(sql)}, false)`;

/**
 * Ends the orders that have an outcome. A host has reached the version if it is connected, accepts its spec and
 * reports the version. Otherwise the order fails if the host says so, or after the time limit.
 */
export async function settleOrders(sql: Queryable, rolloutId: string): Promise<number> {
  const { count } = await sql`
    update rollout_hosts u set wanted_version = '', ended_at = now(),
      reason = case when n.reached then '' else n.failure end,
      state = case when u.state = 'updating' then case when n.reached then 'done' else 'failed' end
        else case when n.reached then 'rolled_back' else 'roll_back_failed' end end
    from (select u.host_id, r.reached, case
          when h.fenced_at is not null then 'an operator fenced the host'
          when h.inventory #>> '{software,upgrade,id}' = u.order_id::text
            and h.inventory #> '{software,upgrade,failure}' <> 'null'
            then h.inventory #>> '{software,upgrade,failure,message}'
          when u.ordered_at + make_interval(secs => o.host_time_limit_s) < now()
            then 'it was not connected with version ' || u.wanted_version || ' within ' || o.host_time_limit_s || ' s'
          end as failure
        from rollout_hosts u join rollouts o on o.id = u.rollout_id join hosts h on h.id = u.host_id
        cross join lateral (select ${isConnected(sql)} and h.refusal = ''
          and ${agentVersion(sql)} = u.wanted_version
          and not ${isInstalling(sql)} as reached) r
        where u.rollout_id = ${rolloutId} and u.wanted_version <> '') n
    where u.rollout_id = ${rolloutId} and u.host_id = n.host_id and (n.reached or n.failure is not null)`;
  return count;
}

export type RolloutProgress = {
  pending: number;
  ordered: number;
  failed: number;
  /** Hosts that were told to change, and not told to return yet. */
  changed: number;
  /** The first wave that has something left to do; null if none has. */
  wave: number | null;
};

export async function readProgress(sql: Queryable, rolloutId: string): Promise<RolloutProgress> {
  const [row] = await sql<RolloutProgress[]>`
    select count(*) filter (where state = 'pending')::int as pending,
      count(*) filter (where wanted_version <> '')::int as ordered,
      count(*) filter (where state = 'failed')::int as failed,
      count(*) filter (where state in ('done', 'failed') and order_id is not null)::int as changed,
      min(wave) filter (where state in ('pending', 'updating')) as wave
    from rollout_hosts where rollout_id = ${rolloutId}`;
  if (!row) throw new Error('BUG: an aggregate has one row');
  return row;
}

/** Names some of the hosts that failed last, for the reason of a pause. */
export async function describeFailures(sql: Queryable, rolloutId: string): Promise<string> {
  const rows = await sql<{ text: string }[]>`
    select h.name || ': ' || u.reason as text from rollout_hosts u join hosts h on h.id = u.host_id
    where u.rollout_id = ${rolloutId} and u.state = 'failed' order by u.ended_at desc, h.name limit 3`;
  return rows.map(({ text }) => text).join('; ');
}

/**
 * Tells the next hosts of a wave to change. A host that has the version is done. A host that is not connected, or
 * whose agent cannot replace itself, is skipped. Returns how many hosts were pending.
 */
export async function orderWave(
  sql: Queryable,
  { rolloutId, wave, version, limit }: Wave,
): Promise<number> {
  const { count } = await sql`
    update rollout_hosts u set state = n.state, reason = n.reason, from_version = n.version,
      order_id = case when n.state = 'updating' then gen_random_uuid() end,
      wanted_version = case when n.state = 'updating' then ${version}::text else '' end,
      ordered_at = case when n.state = 'updating' then now() end,
      ended_at = case when n.state = 'updating' then null else now() end
    from (select w.host_id, v.version, s.reason, case when v.version = ${version} then 'done'
          when s.reason <> '' then 'skipped' else 'updating' end as state
        from (select host_id from rollout_hosts where rollout_id = ${rolloutId} and wave = ${wave} and state = 'pending'
          order by host_id limit ${limit}) w
        join hosts h on h.id = w.host_id
        cross join lateral (select ${agentVersion(sql)} as version) v
        cross join lateral (select case when v.version = ${version} then ''
          when not (${isConnected(sql)}) then 'it was not connected when its wave began'
          when not coalesce(h.inventory #> '{software,capabilities}' ? 'agent_upgrades', false)
            then 'its agent ' || v.version || ' cannot replace itself: install gantry-agent there with apt-get once'
          else '' end as reason) s) n
    where u.rollout_id = ${rolloutId} and u.host_id = n.host_id`;
  return count;
}

type Wave = { rolloutId: string; wave: number; version: string; limit: number };

/** Tells hosts to return to the version that they had. Returns how many. */
export async function orderReturn(
  sql: Queryable,
  { rolloutId, limit }: Pick<Wave, 'rolloutId' | 'limit'>,
): Promise<number> {
  const { count } = await sql`
    update rollout_hosts u set state = 'rolling_back', order_id = gen_random_uuid(), wanted_version = from_version,
      ordered_at = now(), ended_at = null
    where u.rollout_id = ${rolloutId} and u.host_id in (select host_id from rollout_hosts
      where rollout_id = ${rolloutId} and state in ('done', 'failed') and order_id is not null
      order by wave, host_id limit ${limit})`;
  return count;
}

/** Hosts whose wave has not begun are not told to change any more. */
export async function skipPending(
  sql: Queryable,
  { rolloutId, reason }: { rolloutId: string; reason: string },
): Promise<void> {
  await sql`update rollout_hosts set state = 'skipped', reason = ${reason}, ended_at = now()
    where rollout_id = ${rolloutId} and state = 'pending'`;
}

export async function updateWave(
  sql: Queryable,
  { rolloutId, wave }: Pick<Wave, 'rolloutId' | 'wave'>,
): Promise<void> {
  await sql`update rollouts set wave = ${wave} where id = ${rolloutId} and wave <> ${wave}`;
}

export async function pauseRollout(
  sql: Queryable,
  { rolloutId, reason }: { rolloutId: string; reason: string },
): Promise<void> {
  await sql`update rollouts set state = 'paused', state_reason = ${reason} where id = ${rolloutId}`;
}

/** The hosts may be part of another rollout from now on. */
export async function endRollout(
  sql: Queryable,
  { rolloutId, state }: { rolloutId: string; state: RolloutState },
): Promise<void> {
  await sql`update rollouts set state = ${state}, state_reason = '', ended_at = now() where id = ${rolloutId}`;
  await sql`update rollout_hosts set active = false where rollout_id = ${rolloutId} and active`;
}
