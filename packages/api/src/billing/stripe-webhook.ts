import { randomUUID } from 'node:crypto';
import { CloudError } from '@gantry/model/errors';
import type { Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import type { Deps } from '../deps.ts';
import { toErrorReply } from '../http/http-errors.ts';
import { MAX_BODY_BYTES } from '../http/parse-input.ts';

const PATH = '/webhooks/stripe';

/**
 * Serves the address at which the payment provider reports events. It has no bearer: the signature
 * of the body is the proof. The provider repeats an event until it gets a 200.
 */
export function mountPaymentWebhook(app: Hono, deps: Deps): void {
  const webhook = deps.billing.collection?.webhook;
  if (!webhook) return;
  const refuse = (error: unknown) => {
    const requestId = randomUUID();
    const { status, headers, body, fault } = toErrorReply(error, requestId);
    deps.log.warn({ request_id: requestId, status, error: fault ?? error }, 'webhook refused');
    return Response.json(body, { status, headers: { ...headers, 'x-request-id': requestId } });
  };
  app.post(
    PATH,
    bodyLimit({
      maxSize: MAX_BODY_BYTES,
      onError: () =>
        refuse(new CloudError('request_too_large', 'the event is larger than 256 KiB')),
    }),
    async (c) => {
      try {
        await webhook.accept({
          body: await c.req.text(),
          signature: c.req.header('stripe-signature'),
        });
        return Response.json({ received: true });
      } catch (error) {
        return refuse(error);
      }
    },
  );
}
