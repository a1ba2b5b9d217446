import type { Log } from '@gantry/daemon/log';
import type { Queryable, Sql } from '@gantry/db/connect';
import {
  describeFailures,
  endRollout,
  listUnfinishedRollouts,
  lockUnfinishedRollout,
  orderReturn,
  orderWave,
  pauseRollout,
  readProgress,
  settleOrders,
  skipPending,
  type UnfinishedRollout,
  updateWave,
} from '@gantry/db/queries/rollouts/advance-rollout';
import { transact } from '@gantry/db/transact';

/** A transaction locks the spec numbers of this many hosts at most, because VMs wait for them. */
const ORDERS_PER_STEP = 100;

/**
 * Carries out the rollouts of agent versions. For each one that has not ended:
 *
 * 1. Ends the orders of hosts that have reached their version, reported a failure or exceeded the time limit.
 * 2. Pauses the rollout if too many hosts have failed.
 * 3. Otherwise tells hosts of the first unfinished wave to change. A wave begins when no host of an earlier one is
 *    left. In a roll-back, it tells hosts to return to their earlier version, a batch at a time.
 * 4. Ends the rollout when nothing is left.
 *
 * Orders are part of the specs of hosts, so the next delivery brings them. Each step is one transaction that locks
 * the rollout; other schedulers skip it meanwhile. A process that is killed between two steps leaves a state from
 * which any scheduler continues.
 */
export async function advanceRollouts({ sql, log }: { sql: Sql; log: Log }): Promise<void> {
  for (const id of await listUnfinishedRollouts(sql)) {
    let hasMore = true;
    while (hasMore) hasMore = await transact(sql, (tx) => advance({ sql: tx, log, id }));
  }
}

type Step = { sql: Queryable; log: Log; id: string };

/** Returns whether there is more to do at once. */
async function advance({ sql, log, id }: Step): Promise<boolean> {
  const rollout = await lockUnfinishedRollout(sql, id);
  if (!rollout) return false;
  await settleOrders(sql, id);
  switch (rollout.state) {
    case 'running':
      return await advanceWave(sql, log, rollout);
    case 'cancelling':
      return await finishCancelling(sql, log, id);
    case 'rolling_back':
      return await advanceReturn(sql, log, rollout);
    default:
      return false;
  }
}

async function advanceWave(sql: Queryable, log: Log, rollout: UnfinishedRollout): Promise<boolean> {
  const { id: rolloutId, version } = rollout;
  const { failed, wave } = await readProgress(sql, rolloutId);
  if (failed - rollout.forgiven_failures > rollout.max_failures) {
    const hosts = failed === 1 ? '1 host has failed' : `${failed} hosts have failed`;
    const reason = `${hosts}: ${await describeFailures(sql, rolloutId)}`;
    await pauseRollout(sql, { rolloutId, reason });
    log.warn({ rollout_id: rolloutId, failed, reason }, 'rollout paused');
    return false;
  }
  if (wave === null) {
    await endRollout(sql, { rolloutId, state: 'completed' });
    log.info({ rollout_id: rolloutId, failed }, 'rollout completed');
    return false;
  }
  await updateWave(sql, { rolloutId, wave });
  return (await orderWave(sql, { rolloutId, wave, version, limit: ORDERS_PER_STEP })) > 0;
}

async function finishCancelling(sql: Queryable, log: Log, rolloutId: string): Promise<boolean> {
  await skipPending(sql, { rolloutId, reason: 'the rollout was cancelled' });
  const { ordered } = await readProgress(sql, rolloutId);
  if (ordered > 0) return false;
  await endRollout(sql, { rolloutId, state: 'cancelled' });
  log.info({ rollout_id: rolloutId }, 'rollout cancelled');
  return false;
}

/**
 * Hosts that were told to change finish first: the package manager of such a host may be at work, and the agent would
 * take an order to return for done.
 */
async function advanceReturn(
  sql: Queryable,
  log: Log,
  { id: rolloutId, batch_size }: UnfinishedRollout,
): Promise<boolean> {
  await skipPending(sql, { rolloutId, reason: 'the rollout was rolled back' });
  const { changed, ordered } = await readProgress(sql, rolloutId);
  const limit = Math.min(batch_size - ordered, changed, ORDERS_PER_STEP);
  if (limit > 0) return (await orderReturn(sql, { rolloutId, limit })) > 0;
  if (changed + ordered > 0) return false;
  await endRollout(sql, { rolloutId, state: 'rolled_back' });
  log.info({ rollout_id: rolloutId }, 'rollout rolled back');
  return false;
}
