const SECOND_MS = 1_000;
const HOUR_MS = 3_600_000;

export type WebhookTimings = {
  /** The pause between two looks for new events while there are webhooks. */
  pollMs: number;
  /** The pause after the first failed attempt, which doubles with each further one. */
  retryMs: number;
  maxRetryMs: number;
  /** An event is sent for this long. A webhook for which nothing has succeeded for this long is disabled. */
  giveUpMs: number;
  /** A receiver has this long to reply, from the lookup of its name to the end of its reply. */
  replyMs: number;
  /** How long another process waits after this one has died. Longer than an attempt takes. */
  leaseMs: number;
};

export const GIVE_UP_MS = 72 * HOUR_MS;

export function webhookTimings({
  replyMs,
  retryMs,
}: Pick<WebhookTimings, 'replyMs' | 'retryMs'>): WebhookTimings {
  return {
    ...{ replyMs, retryMs },
    pollMs: 250,
    maxRetryMs: 6 * HOUR_MS,
    giveUpMs: GIVE_UP_MS,
    leaseMs: 1.5 * replyMs + SECOND_MS,
  };
}
