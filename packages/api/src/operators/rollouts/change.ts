import type { Queryable } from '@gantry/db/connect';
import {
  forgiveFailures,
  insertRollout,
  lockRollout,
  type RolloutRow,
  readRollout,
  reviveRolloutHosts,
  updateRolloutState,
} from '@gantry/db/queries/rollouts/rollouts';
import { badRequest, CloudError, found } from '@gantry/model/errors';
import { newId } from '@gantry/model/ids';
import type { RolloutState } from '@gantry/model/rollouts';
import type { z } from '@hono/zod-openapi';
import { type Caller, callerId } from '../../auth/caller.ts';
import type { CreateRollout } from './schema.ts';

type Creation = {
  sql: Queryable;
  caller: Caller;
  body: z.output<typeof CreateRollout>;
  now: Date;
};

/** Selects the hosts and puts them into waves. A scheduler carries the rollout out. */
export async function createRollout({ sql, caller, body, now }: Creation): Promise<RolloutRow> {
  const id = newId(now.getTime());
  const hosts = await insertRollout(sql, {
    ...{ id, version: body.version, labels: body.labels as Record<string, string> },
    ...{ canaryCount: body.canary_count, batchSize: body.batch_size },
    ...{ hostTimeLimitS: body.host_time_limit_seconds, maxFailures: body.max_failures },
    ...{ createdBy: callerId(caller), createdAt: now },
  });
  if (hosts === 0) throw badRequest([{ field: 'labels', reason: 'select no host' }]);
  return found(await readRollout(sql, id), 'rollout');
}

/** `from` may change to the state; a rollout in one of `already` stays as it is. */
type Change = { from: readonly RolloutState[]; to: RolloutState; already: readonly RolloutState[] };

export const ROLLOUT_CHANGES = {
  pause: { from: ['running'], to: 'paused', already: ['paused'] },
  resume: { from: ['paused'], to: 'running', already: ['running'] },
  cancel: { from: ['running', 'paused'], to: 'cancelling', already: ['cancelling', 'cancelled'] },
  'roll-back': {
    from: ['running', 'paused', 'cancelling', 'cancelled', 'completed'],
    to: 'rolling_back',
    already: ['rolling_back', 'rolled_back'],
  },
} as const satisfies Record<string, Change>;

type Verb = keyof typeof ROLLOUT_CHANGES;

/** Changes what a scheduler does with the rollout from now on. Idempotent. */
export async function changeRollout(
  sql: Queryable,
  { rolloutId, verb }: { rolloutId: string; verb: Verb },
): Promise<RolloutRow> {
  const rollout = found(await lockRollout(sql, rolloutId), 'rollout');
  const { from, to: state, already }: Change = ROLLOUT_CHANGES[verb];
  if (already.includes(rollout.state)) return rollout;
  if (!from.includes(rollout.state)) {
    throw new CloudError(
      'conflict',
      `the rollout is ${rollout.state}: only one that is ${from.join(' or ')} can be changed by :${verb}`,
    );
  }
  if (verb === 'resume') await forgiveFailures(sql, rolloutId);
  if (verb === 'roll-back') await reviveRolloutHosts(sql, rolloutId);
  const reason = verb === 'pause' ? 'an operator paused it' : '';
  await updateRolloutState(sql, { id: rolloutId, state, reason });
  return found(await readRollout(sql, rolloutId), 'rollout');
}
