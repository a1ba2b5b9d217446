import { startLoop } from '@gantry/daemon/loop';
import {
  claimQueues,
  findWoken,
  moveIdleQueues,
  wakeQueues,
} from '@gantry/db/queries/webhooks/webhook-queue';
import { newId } from '@gantry/model/ids';
import { type QueueServer, serveQueue } from './serve-queue.ts';

/** How many webhooks this process serves at the same time, and how many of one organization. */
const MOST_SERVED = 64;
const MOST_OF_ORGANIZATION = 16;
const CLAIMED_AT_ONCE = 4;
/** Every webhook is compared with the stream this often, in case that something was overlooked. */
const FULL_LOOK_MS = 60_000;
/** While there are no webhooks, one statement this often looks for the first one. */
const NO_WEBHOOKS_PAUSE_MS = 5_000;

export type WebhookDelivery = { stop(): Promise<void> };

type Options = Omit<QueueServer, 'holder' | 'isStopping'>;

/**
 * Delivers events to webhooks. Any number of api processes share the work: each looks for webhooks that have new events or
 * deliveries that are due, and leases those that no other process serves. Without webhooks nothing is written.
 */
export function deliverWebhooks(options: Options): WebhookDelivery {
  const { sql, log, timings } = options;
  const served = new Map<string, { organizationId: string; ended: Promise<void> }>();
  let isStopping = false;
  let hasWebhooks = true;
  let since: string | null = null;
  let fullLookAt = Number.NEGATIVE_INFINITY;
  const server = { ...options, holder: newId(), isStopping: () => isStopping };

  const look = async () => {
    const isFull = performance.now() - fullLookAt > FULL_LOOK_MS;
    const state = await findWoken(sql, isFull ? null : since);
    since = state.horizon;
    hasWebhooks = state.hasWebhooks;
    if (!hasWebhooks) return;
    if (state.woken.length > 0) await wakeQueues(sql, state.woken);
    if (!isFull) return;
    await moveIdleQueues(sql);
    fullLookAt = performance.now();
  };

  const claim = async () => {
    while (!isStopping && served.size < MOST_SERVED) {
      const limit = Math.min(CLAIMED_AT_ONCE, MOST_SERVED - served.size);
      const claim = { holder: server.holder, leaseMs: timings.leaseMs, limit, busy: busy() };
      const claimed = await claimQueues(sql, claim);
      for (const { webhookId, organizationId } of claimed) {
        const ended = serveQueue(server, webhookId)
          .catch((error) => log.error({ error, webhook_id: webhookId }, 'a webhook was not served'))
          .finally(() => {
            served.delete(webhookId);
            loop.nudge();
          });
        served.set(webhookId, { organizationId, ended });
      }
      if (claimed.length < limit) return;
    }
  };

  const busy = () => {
    const counts = new Map<string, number>();
    for (const { organizationId } of served.values())
      counts.set(organizationId, (counts.get(organizationId) ?? 0) + 1);
    return [...counts].filter(([, count]) => count >= MOST_OF_ORGANIZATION).map(([id]) => id);
  };

  const loop = startLoop({
    name: 'webhooks',
    everyMs: () => (hasWebhooks ? timings.pollMs : NO_WEBHOOKS_PAUSE_MS),
    log,
    body: async () => {
      await look();
      if (hasWebhooks) await claim();
    },
  });

  return {
    /** Waits for the attempts that have begun, and gives the leases back. */
    async stop() {
      isStopping = true;
      await loop.stop();
      await Promise.all([...served.values()].map(({ ended }) => ended));
    },
  };
}
