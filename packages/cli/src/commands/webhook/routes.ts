import { buildCommand, buildRouteMap } from '@stricli/core';
import type { CliContext } from '../../cli-context.ts';
import { UsageError } from '../../cli-errors.ts';
import { printList, printOne } from '../../terminal/print.ts';
import { confirm, type YesFlag, yesFlag } from '../confirm.ts';
import { argument, optionalText, outputAlias } from '../flags.ts';
import { showTags, type Tag, tagFlag, tagObject } from '../tags.ts';
import { deliveriesCommand, testCommand } from './deliveries.ts';
import { showEventTypes, webhookArgument, webhookFields } from './webhook.ts';
import { connectToWebhooks, findWebhook, type WebhookFlags, webhookFlags } from './webhooks.ts';

const list = buildCommand<WebhookFlags, [], CliContext>({
  docs: { brief: 'List the webhooks of the project, without their secrets' },
  parameters: { flags: webhookFlags, aliases: outputAlias },
  async func(flags) {
    const { items } = await (await connectToWebhooks(this, flags)).list();
    printList(this, items, {
      ...{ format: flags.output, nothing: 'There are no webhooks.' },
      columns: [
        { title: 'NAME', value: ({ name }) => name },
        { title: 'URL', value: ({ url }) => url },
        { title: 'EVENT TYPES', value: showEventTypes },
        { title: 'STATE', value: ({ state }) => state },
        { title: 'TAGS', value: ({ tags }) => showTags(tags), isExtra: true },
        { title: 'ID', value: ({ id }) => id, isExtra: true },
      ],
    });
  },
});

const show = buildCommand<WebhookFlags, [string], CliContext>({
  docs: { brief: 'Show a webhook, without its secret' },
  parameters: { flags: webhookFlags, aliases: outputAlias, positional: webhookArgument },
  async func(flags, wanted) {
    const webhook = await findWebhook(await connectToWebhooks(this, flags), wanted);
    printOne(this, webhook, { format: flags.output, fields: webhookFields(webhook) });
  },
});

const EVENT_TYPES = ['operation', 'vm', 'event'] as const;
const OPERATOR_EVENT_TYPES = [
  ...EVENT_TYPES,
  ...(['host', 'devices', 'rollout', 'rollout_host'] as const),
] as const;
type EventType = (typeof OPERATOR_EVENT_TYPES)[number];
type CreateFlags = WebhookFlags & {
  eventTypes: string | undefined;
  description: string | undefined;
  tag: readonly Tag[] | undefined;
};

const create = buildCommand<CreateFlags, [string, string], CliContext>({
  docs: {
    brief: 'Create a webhook: events of the project are sent to a URL',
    fullDescription: 'Its secret is printed this once, and cannot be read again.',
  },
  parameters: {
    flags: {
      ...webhookFlags,
      eventTypes: optionalText(
        `The types of events, with commas: ${EVENT_TYPES.join(', ')}; of operators also host, devices, rollout, rollout_host (default: all)`,
        'types',
      ),
      description: optionalText('What the webhook is for', 'text'),
      tag: tagFlag('A tag of the webhook; may be repeated'),
    },
    aliases: outputAlias,
    positional: {
      kind: 'tuple',
      parameters: [
        argument('The name of the new webhook', 'name'),
        argument('The https URL that messages are sent to', 'url'),
      ],
    },
  },
  async func({ eventTypes, description, tag, ...flags }, name, url) {
    const body = {
      ...{ name, url, event_types: parseTypes(eventTypes, flags) },
      ...(description !== undefined && { description }),
      ...(tag && { tags: tagObject(tag) }),
    };
    const webhook = await (await connectToWebhooks(this, flags)).create(body);
    const fields = [...webhookFields(webhook), ['Secret', webhook.secret]] as const;
    printOne(this, webhook, { format: flags.output, fields });
  },
});

function parseTypes(typed: string | undefined, { operator }: WebhookFlags): EventType[] {
  const offered: readonly EventType[] = operator ? OPERATOR_EVENT_TYPES : EVENT_TYPES;
  const types = (typed ?? '').split(',').filter((type) => type !== '');
  return types.map((type) => {
    const known = offered.find((each) => each === type);
    if (!known) throw new UsageError(`--event-types: ${type} is none of ${offered.join(', ')}`);
    return known;
  });
}

type ReplayFlags = WebhookFlags & { since: string | undefined; after: string | undefined };

const replay = buildCommand<ReplayFlags, [string], CliContext>({
  docs: {
    brief: 'Send the events since a time, or after an event, again',
    fullDescription: 'Every later event is sent again too, in its order and with its id.',
  },
  parameters: {
    flags: {
      ...webhookFlags,
      since: optionalText('A time, such as 2030-01-31T12:00:00Z', 'time'),
      after: optionalText('The webhook-id of a message', 'event-id'),
    },
    aliases: outputAlias,
    positional: webhookArgument,
  },
  async func({ since, after, ...flags }, wanted) {
    if ((since === undefined) === (after === undefined))
      throw new UsageError('give one of --since and --after');
    const webhooks = await connectToWebhooks(this, flags);
    const { id: webhook_id } = await findWebhook(webhooks, wanted);
    const body = { ...(since && { since }), ...(after && { after_event_id: after }) };
    const webhook = await webhooks.replay(webhook_id, body);
    printOne(this, webhook, { format: flags.output, fields: webhookFields(webhook) });
  },
});

const enable = buildCommand<WebhookFlags, [string], CliContext>({
  docs: { brief: 'Enable a webhook that was disabled' },
  parameters: { flags: webhookFlags, aliases: outputAlias, positional: webhookArgument },
  async func(flags, wanted) {
    const webhooks = await connectToWebhooks(this, flags);
    const { id: webhook_id } = await findWebhook(webhooks, wanted);
    const webhook = await webhooks.enable(webhook_id);
    printOne(this, webhook, { format: flags.output, fields: webhookFields(webhook) });
  },
});

const rotateSecret = buildCommand<WebhookFlags, [string], CliContext>({
  docs: {
    brief: 'Replace the secret of a webhook',
    fullDescription:
      'The new secret is printed this once. Messages are signed with both secrets for 24 hours.',
  },
  parameters: { flags: webhookFlags, aliases: outputAlias, positional: webhookArgument },
  async func(flags, wanted) {
    const webhooks = await connectToWebhooks(this, flags);
    const { id: webhook_id } = await findWebhook(webhooks, wanted);
    const webhook = await webhooks.rotateSecret(webhook_id);
    const fields = [...webhookFields(webhook), ['Secret', webhook.secret]] as const;
    printOne(this, webhook, { format: flags.output, fields });
  },
});

const remove = buildCommand<WebhookFlags & YesFlag, [string], CliContext>({
  docs: {
    brief: 'Delete a webhook',
    fullDescription: 'What was not delivered yet is dropped. On a terminal it asks first.',
  },
  parameters: {
    flags: { ...webhookFlags, ...yesFlag },
    aliases: { ...outputAlias, y: 'yes' },
    positional: webhookArgument,
  },
  async func(flags, wanted) {
    const webhooks = await connectToWebhooks(this, flags);
    const { id: webhook_id, name } = await findWebhook(webhooks, wanted);
    await confirm(this, flags, `Delete the webhook ${name}?`);
    const webhook = await webhooks.delete(webhook_id);
    if (flags.output !== 'table') printOne(this, webhook, { format: flags.output, fields: [] });
  },
});

export const webhookRoutes = buildRouteMap({
  routes: {
    ...{ list, show, create, test: testCommand, deliveries: deliveriesCommand },
    ...{ replay, enable, rotateSecret, delete: remove },
  },
  docs: { brief: 'Webhooks: events that are sent to a URL' },
});
