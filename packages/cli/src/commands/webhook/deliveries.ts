import { setTimeout as delay } from 'node:timers/promises';
import type { Schemas } from '@gantry/sdk';
import { buildCommand } from '@stricli/core';
import type { CliContext } from '../../cli-context.ts';
import { connectToProject, type ProjectConnection } from '../../config/connect.ts';
import { printList, printOne } from '../../terminal/print.ts';
import { type CommonFlags, commonFlags, outputAlias } from '../flags.ts';
import { findWebhook, webhookArgument } from './webhook.ts';

type Delivery = Schemas['WebhookDelivery'];

const STATES = ['pending', 'delivered', 'failed'] as const;
type DeliveriesFlags = CommonFlags & { state: (typeof STATES)[number] | undefined };

export const deliveriesCommand = buildCommand<DeliveriesFlags, [string], CliContext>({
  docs: {
    brief: 'List the last 100 deliveries of a webhook, newest first',
    fullDescription: 'The status, the time and the error are those of the last attempt.',
  },
  parameters: {
    flags: {
      ...commonFlags,
      state: {
        ...({ kind: 'enum', values: STATES, optional: true } as const),
        brief: 'Only those in this state',
      },
    },
    aliases: outputAlias,
    positional: webhookArgument,
  },
  async func({ state, ...flags }, wanted) {
    const connection = await connectToProject(this, flags);
    const { client, project_id } = connection;
    const { id: webhook_id } = await findWebhook(connection, wanted);
    const { items } = await client.webhooks.deliveries({
      ...{ project_id, webhook_id },
      ...(state && { state }),
    });
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

export const testCommand = buildCommand<CommonFlags, [string], CliContext>({
  docs: {
    brief: 'Send a test message to a webhook, and show the result',
    fullDescription: 'The exit code is 0 if the receiver accepted it.',
  },
  parameters: { flags: commonFlags, aliases: outputAlias, positional: webhookArgument },
  async func(flags, wanted) {
    const connection = await connectToProject(this, flags);
    const { client, project_id } = connection;
    const { id: webhook_id } = await findWebhook(connection, wanted);
    const sent = await client.webhooks.test({ project_id, webhook_id });
    const delivery = await waitForEnd(connection, { webhook_id, delivery: sent });
    if (flags.output === 'table') this.process.stdout.write(`${describeEnd(delivery)}\n`);
    else printOne(this, delivery, { format: flags.output, fields: [] });
    if (delivery.state !== 'delivered') throw new Error('the test message was not accepted');
  },
});

async function waitForEnd(
  { client, project_id }: ProjectConnection,
  { webhook_id, delivery }: { webhook_id: string; delivery: Delivery },
): Promise<Delivery> {
  const delivery_id = delivery.id;
  const endMs = performance.now() + TEST_LIMIT_MS;
  let last = delivery;
  while (last.state === 'pending' && performance.now() < endMs) {
    await delay(POLL_MS);
    last = await client.webhooks.getDelivery({ project_id, webhook_id, delivery_id });
  }
  return last;
}

function describeEnd({ state, status_code, latency_ms, error }: Delivery): string {
  if (state === 'delivered')
    return `delivered: the receiver replied ${status_code} after ${latency_ms} ms`;
  return `${state}: ${error || 'it was not sent yet'}`;
}
