import type { Transaction } from '@gantry/db/connect';
import {
  type Attempt,
  type DueDelivery,
  readDueDeliveries,
  updateAttempted,
} from '@gantry/db/queries/webhooks/webhook-attempts';
import {
  disableWebhook,
  type HeldQueue,
  keepQueue,
  lockHeldQueue,
  releaseQueue,
} from '@gantry/db/queries/webhooks/webhook-queue';
import { addDeliveries, MOST_PENDING } from './new-deliveries.ts';
import type { WebhookTimings } from './timings.ts';

export const GONE = 410;

export type FinishedAttempt = Attempt & { isTest: boolean };

export type Step = {
  holder: string;
  webhookId: string;
  timings: WebhookTimings;
  /** Attempts that have ended since the last step. */
  attempts: readonly FinishedAttempt[];
  /** Deliveries that are being sent, or are about to be. */
  inFlight: string[];
  /** How many more may be sent now. */
  room: number;
  /** Whether to look for new events although no process has found any. */
  looks: boolean;
};

export type Advanced = {
  queue: HeldQueue;
  due: DueDelivery[];
  hasMore: boolean;
  isDisabled: boolean;
  /** The lease was given back: there is nothing to do at the moment. */
  isReleased: boolean;
};

/**
 * One transaction of the process that has the lease of a webhook: it records the attempts that have ended, adds deliveries
 * of new events, and reads what is to be sent next. Returns undefined if the lease was lost.
 */
export async function advanceQueue(tx: Transaction, step: Step): Promise<Advanced | undefined> {
  const { webhookId, attempts, inFlight, timings } = step;
  const { leaseMs, giveUpMs } = timings;
  const queue = await lockHeldQueue(tx, step);
  if (!queue) return undefined;
  const ended = await updateAttempted(tx, { webhookId, attempts });
  const outcome = outcomeOf(attempts);
  const reason = disablingReason(step, queue, outcome);
  if (reason) await disableWebhook(tx, { webhookId, reason });
  const isDisabled = queue.is_disabled || reason !== undefined;
  const before = { ...queue, pending: queue.pending - ended };
  const { hasMore, ...place } =
    !isDisabled && (step.looks || queue.is_woken)
      ? await addDeliveries(tx, { webhookId, queue: before, giveUpMs })
      : { era: queue.era, position: queue.position, pending: before.pending, hasMore: false };
  const due =
    isDisabled || step.room <= 0
      ? []
      : await readDueDeliveries(tx, { webhookId, inFlight, limit: step.room });
  const isDue = hasMore && place.pending < MOST_PENDING;
  const isReleased = due.length + inFlight.length === 0 && (!isDue || step.room <= 0);
  const progress = { webhookId, ...place, outcome };
  if (isReleased) await releaseQueue(tx, { ...progress, isDue });
  else await keepQueue(tx, { ...progress, leaseMs });
  return { queue, due, hasMore, isDisabled, isReleased };
}

function outcomeOf(attempts: readonly FinishedAttempt[]): 'succeeded' | 'failed' | null {
  const ofEvents = attempts.filter(({ isTest }) => !isTest);
  if (ofEvents.length === 0) return null;
  return ofEvents.some(({ succeeded }) => succeeded) ? 'succeeded' : 'failed';
}

function disablingReason(
  { attempts, timings: { giveUpMs } }: Step,
  { failing_ms }: HeldQueue,
  outcome: 'succeeded' | 'failed' | null,
): string | undefined {
  if (attempts.some(({ statusCode, isTest }) => statusCode === GONE && !isTest))
    return 'the receiver replied 410 Gone';
  if (outcome !== 'failed' || failing_ms < giveUpMs) return undefined;
  return `no event could be delivered for ${Math.round(giveUpMs / 3_600_000)} hours`;
}
