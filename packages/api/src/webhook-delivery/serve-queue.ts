import type { AddressRules } from '@gantry/daemon/address-rules';
import { backoffMs } from '@gantry/daemon/backoff';
import type { Log } from '@gantry/daemon/log';
import type { Secrets } from '@gantry/daemon/secrets';
import type { Sql } from '@gantry/db/connect';
import { WEBHOOK_SECRET_PURPOSE } from '@gantry/db/queries/tenants/sealed';
import type { DueDelivery } from '@gantry/db/queries/webhooks/webhook-attempts';
import type { HeldQueue } from '@gantry/db/queries/webhooks/webhook-queue';
import { transact } from '@gantry/db/transact';
import { type Advanced, advanceQueue, type FinishedAttempt, GONE } from './advance-queue.ts';
import { createSender, type Sender } from './send.ts';
import { signatureHeaders } from './sign.ts';
import type { WebhookTimings } from './timings.ts';

/** How many events of one webhook are sent at the same time. They are of different resources. */
const CONCURRENCY = 10;
/** How many deliveries are in memory: being sent, or ready to be sent without another transaction. */
const READ_AHEAD = 100;
/** While there is more to send, attempts that have ended are gathered for one transaction: so many, or for so long. */
const GATHERED = 50;
const GATHER_MS = 20;
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
 * 2. They are sent, a few at a time, each without waiting for the others.
 * 3. When some have ended, the next transaction records them. Sending goes on meanwhile, because a transaction costs as much
 *    as many attempts. The next event of a resource is not among what is ready: it becomes due in the transaction that
 *    records the one before it.
 *
 * If the process is killed, another one sends what was not recorded again when the lease has run out. An attempt begins only
 * while the lease lasts longer than an attempt may take, so both do not send at the same time.
 */
export async function serveQueue(server: QueueServer, webhookId: string): Promise<void> {
  const { sql, log, timings, holder } = server;
  const inFlight = new Map<string, Promise<void>>();
  let ready: DueDelivery[] = [];
  let target: Target = { url: '', secrets: [] };
  let attempts: FinishedAttempt[] = [];
  let wake = () => {};
  let sender: Sender | undefined;
  const beganAt = performance.now();
  let leasedAt = beganAt;
  let looks = true;

  const start = (delivery: DueDelivery, by: Sender) => {
    const message = signed(delivery, target.secrets, server.nowMs());
    const sending = by.send(target.url, message).then((sent) => {
      inFlight.delete(delivery.id);
      attempts.push(toAttempt(delivery, sent, timings));
      // The receiver wants nothing more. The next transaction disables the webhook.
      if (sent.statusCode === GONE) ready = [];
      startReady();
      wake();
    });
    inFlight.set(delivery.id, sending);
  };

  const startReady = () => {
    while (sender && ready.length > 0 && inFlight.size < CONCURRENCY) {
      if (performance.now() - leasedAt > timings.leaseMs - timings.replyMs) return;
      const [next, ...others] = ready;
      ready = others;
      if (next) start(next, sender);
    }
  };

  /** Waits until there is something to record, or to look for. */
  const rest = async () => {
    const isEnough = () =>
      attempts.length >= (ready.length > 0 ? GATHERED : 1) || inFlight.size === 0;
    if (isEnough()) return;
    await new Promise<void>((resolve) => {
      let timer = setTimeout(resolve, LOOK_MS);
      let isGathering = false;
      wake = () => {
        if (isEnough()) {
          clearTimeout(timer);
          resolve();
        } else if (!isGathering) {
          isGathering = true;
          clearTimeout(timer);
          timer = setTimeout(resolve, GATHER_MS);
        }
      };
      if (attempts.length > 0) wake();
    });
    wake = () => {};
  };

  const advance = async (recorded: FinishedAttempt[]): Promise<Advanced | undefined | 'failed'> => {
    const isOver = server.isStopping() || performance.now() - beganAt > TURN_MS;
    // What was not begun is left to the next turn.
    if (isOver) ready = [];
    // A delivery that ends before the transaction begins is recorded by the next one, so it is still in memory for this one.
    const held = [...inFlight.keys(), ...ready.map(({ id }) => id)];
    const room = isOver ? 0 : READ_AHEAD - held.length;
    const step = {
      ...{ holder, webhookId, timings, attempts: recorded, room, looks },
      inFlight: held,
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
      target = targetOf(advanced.queue, server.secrets);
      // A webhook that was disabled meanwhile gets nothing more.
      ready = advanced.isDisabled ? [] : [...ready, ...advanced.due];
      startReady();
      await rest();
    }
    log.warn({ webhook_id: webhookId }, 'the lease of a webhook ran out');
  } finally {
    ready = [];
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
