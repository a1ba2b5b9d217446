import { setTimeout as delay } from 'node:timers/promises';
import type { Schemas } from '@gantry/sdk';
import { buildCommand } from '@stricli/core';
import type { CliContext } from '../../cli-context.ts';
import { printList, printOne } from '../../terminal/print.ts';
import { outputAlias } from '../flags.ts';
import { webhookArgument } from './webhook.ts';
import {
  connectToWebhooks,
  findWebhook,
  type WebhookFlags,
  type Webhooks,
  webhookFlags,
} from './webhooks.ts';

type Delivery = Schemas['WebhookDelivery'];

const STATES = ['pending', 'delivered', 'failed'] as const;
type DeliveriesFlags = WebhookFlags & { state: (typeof STATES)[number] | undefined };

export const deliveriesCommand = buildCommand<DeliveriesFlags, [string], CliContext>({
  docs: {
    brief: 'List the last 100 deliveries of a webhook, newest first',
    fullDescription: 'The status, the time and the error are those of the last attempt.',
  },
  parameters: {
    flags: {
      ...webhookFlags,
      state: {
        ...({ kind: 'enum', values: STATES, optional: true } as const),
        brief: 'Only those in this state',
      },
    },
    aliases: outputAlias,
    positional: webhookArgument,
  },
  async func({ state, ...flags }, wanted) {
    const webhooks = await connectToWebhooks(this, flags);
    const { id: webhook_id } = await findWebhook(webhooks, wanted);
    const { items } = await webhooks.deliveries(webhook_id, state);
    printList(this, items, {
      ...{ format: flags.output, nothing: 'There are no deliveries.' },
      columns: [
        { title: 'TIME', value: ({ created_at }) => created_at },
        { title: 'EVENT', value: ({ event_id }) => event_id },
        { title: 'TYPE', value: ({ event_type }) => event_type },
        { title: 'STATE', value: ({ state: shown }) => shown },
        { title: 'ATTEMPTS', value: ({ attempts }) => String(attempts) },
        { title: 'NEXT ATTEMPT', value: ({ next_attempt_at }) => next_attempt_at },
        { title: 'ERROR', value: ({ error }) => error },
        { title: 'RESOURCE', value: ({ resource_id }) => resource_id, isExtra: true },
      ],
    });
  },
});

/** Longer than a receiver may take. */
const TEST_LIMIT_MS = 60_000;
const POLL_MS = 300;

export const testCommand = buildCommand<WebhookFlags, [string], CliContext>({
  docs: {
    brief: 'Send a test message to a webhook, and show the result',
    fullDescription: 'The exit code is 0 if the receiver accepted it.',
  },
  parameters: { flags: webhookFlags, aliases: outputAlias, positional: webhookArgument },
  async func(flags, wanted) {
    const webhooks = await connectToWebhooks(this, flags);
    const { id: webhook_id } = await findWebhook(webhooks, wanted);
    const sent = await webhooks.test(webhook_id);
    const delivery = await waitForEnd(webhooks, { webhook_id, delivery: sent });
    if (flags.output === 'table') this.process.stdout.write(`${describeEnd(delivery)}\n`);
    else printOne(this, delivery, { format: flags.output, fields: [] });
    if (delivery.state !== 'delivered') throw new Error('the test message was not accepted');
  },
});

async function waitForEnd(
  webhooks: Webhooks,
  { webhook_id, delivery }: { webhook_id: string; delivery: Delivery },
): Promise<Delivery> {
  const delivery_id = delivery.id;
  const endMs = performance.now() + TEST_LIMIT_MS;
  let last = delivery;
  while (last.state === 'pending' && performance.now() < endMs) {
    await delay(POLL_MS);
    last = await webhooks.getDelivery(webhook_id, delivery_id);
  }
  return last;
}

function describeEnd({ state, status_code, latency_ms, error }: Delivery): string {
  if (state === 'delivered')
    return `delivered: the receiver replied ${status_code} after ${latency_ms} ms`;
  return `${state}: ${error || 'it was not sent yet'}`;
}
