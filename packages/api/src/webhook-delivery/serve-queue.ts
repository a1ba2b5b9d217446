import { backoffMs } from '@gantry/daemon/backoff';
import type { Log } from '@gantry/daemon/log';
import type { Secrets } from '@gantry/daemon/secrets';
import type { Sql } from '@gantry/db/connect';
import { WEBHOOK_SECRET_PURPOSE } from '@gantry/db/queries/tenants/sealed';
import type { DueDelivery } from '@gantry/db/queries/webhooks/webhook-attempts';
import type { HeldQueue } from '@gantry/db/queries/webhooks/webhook-queue';
import { transact } from '@gantry/db/transact';
import type { AddressRules } from './address-rules.ts';
import { type Advanced, advanceQueue, type FinishedAttempt } from './advance-queue.ts';
import { createSender } from './send.ts';
import { signatureHeaders } from './sign.ts';
import type { WebhookTimings } from './timings.ts';

/** How many events of one webhook are sent at the same time. They are of different resources. */
const CONCURRENCY = 10;
/** After this time the webhook goes to the end of the line, so that slow receivers do not keep others waiting. */
const TURN_MS = 10_000;
/** While receivers are slow, new events are looked for and the lease is renewed this often. */
const LOOK_MS = 2_000;
const RETRY_STEP_MS = 500;
/** The random share of each pause. */
const JITTER = 0.5;

export type QueueServer = {
  sql: Sql;
  log: Log;
  secrets: Secrets;
  timings: WebhookTimings;
  holder: string;
  rulesOf: (projectId: string | null) => AddressRules;
  nowMs: () => number;
  isStopping: () => boolean;
};

/**
 * Sends the deliveries of one webhook for a while. This process has its lease.
 *
 * 1. A transaction records the attempts that have ended and reads deliveries that are due: see `advance-queue.ts`.
 * 2. They are sent, each without waiting for the others.
 * 3. As soon as one has ended, the next transaction records it, with all others that have ended meanwhile.
 *
 * If the process is killed, another one sends what was not recorded again when the lease has run out. An attempt takes less
 * time than the lease, so both do not send at the same time.
 */
export async function serveQueue(server: QueueServer, webhookId: string): Promise<void> {
  const { sql, log, timings, holder } = server;
  const inFlight = new Map<string, Promise<void>>();
  let attempts: FinishedAttempt[] = [];
  let wake = () => {};
  let sender: ReturnType<typeof createSender> | undefined;
  const beganAt = performance.now();
  let leasedAt = beganAt;
  let looks = true;

  const start = (delivery: DueDelivery, { url, secrets }: Target) => {
    const sending = sender?.send(url, signed(delivery, secrets, server.nowMs())).then((sent) => {
      inFlight.delete(delivery.id);
      attempts.push(toAttempt(delivery, sent, timings));
      wake();
    });
    if (sending) inFlight.set(delivery.id, sending);
  };

  const advance = async (recorded: FinishedAttempt[]): Promise<Advanced | undefined | 'failed'> => {
    const isOver = server.isStopping() || performance.now() - beganAt > TURN_MS;
    const room = isOver ? 0 : CONCURRENCY - inFlight.size;
    // A delivery that ends before the transaction begins is recorded by the next one, so it is still in flight for this one.
    const step = {
      ...{ holder, webhookId, timings, attempts: recorded, room, looks },
      inFlight: [...inFlight.keys()],
    };
    try {
      return await transact(sql, (tx) => advanceQueue(tx, step));
    } catch (error) {
      log.warn(
        { error, webhook_id: webhookId },
        'deliveries of a webhook could not be recorded yet',
      );
      return 'failed';
    }
  };

  try {
    while (performance.now() - leasedAt < timings.leaseMs) {
      const recorded = attempts;
      attempts = [];
      const beganStepAt = performance.now();
      const advanced = await advance(recorded);
      if (advanced === undefined) return;
      if (advanced === 'failed') {
        attempts = [...recorded, ...attempts];
        await pause(RETRY_STEP_MS);
        continue;
      }
      if (advanced.isReleased) return;
      leasedAt = beganStepAt;
      looks = advanced.hasMore;
      sender ??= createSender({
        rules: server.rulesOf(advanced.queue.project_id),
        ...{ connections: CONCURRENCY, limitMs: timings.replyMs },
      });
      const target = targetOf(advanced.queue, server.secrets);
      for (const delivery of advanced.due) start(delivery, target);
      if (attempts.length === 0 && inFlight.size > 0)
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, LOOK_MS);
          wake = () => {
            clearTimeout(timer);
            resolve();
          };
        });
    }
    log.warn({ webhook_id: webhookId }, 'the lease of a webhook ran out');
  } finally {
    await Promise.all(inFlight.values());
    sender?.close();
  }
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

type Target = { url: string; secrets: string[] };

function targetOf({ url, sealed_secret, sealed_old_secret }: HeldQueue, secrets: Secrets): Target {
  const sealed = [sealed_secret, sealed_old_secret].filter((text) => text !== '');
  return { url, secrets: sealed.map((text) => secrets.unseal(WEBHOOK_SECRET_PURPOSE, text)) };
}

/** The id stays the same at each attempt, so that receivers recognise repeats. The time is that of the attempt. */
function signed({ event_id, body }: DueDelivery, secrets: string[], nowMs: number) {
  const message = { id: event_id, timestampS: Math.floor(nowMs / 1_000), body };
  return { headers: signatureHeaders(message, secrets), body };
}

function toAttempt(
  { id, event_type, attempts }: DueDelivery,
  sent: { statusCode: number; error: string; latencyMs: number },
  { retryMs, maxRetryMs }: WebhookTimings,
): FinishedAttempt {
  return {
    ...{ deliveryId: id, isTest: event_type === 'test', succeeded: sent.error === '' },
    ...sent,
    pauseMs: backoffMs(attempts, { minMs: retryMs, maxMs: maxRetryMs, jitter: JITTER }),
  };
}
