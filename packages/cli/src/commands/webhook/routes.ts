import { buildCommand, buildRouteMap } from '@stricli/core';
import type { CliContext } from '../../cli-context.ts';
import { UsageError } from '../../cli-errors.ts';
import { connectToProject } from '../../config/connect.ts';
import { printList, printOne } from '../../terminal/print.ts';
import { confirm, type YesFlag, yesFlag } from '../confirm.ts';
import { argument, type CommonFlags, commonFlags, optionalText, outputAlias } from '../flags.ts';
import { showTags, type Tag, tagFlag, tagObject } from '../tags.ts';
import { deliveriesCommand, testCommand } from './deliveries.ts';
import { findWebhook, showEventTypes, webhookArgument, webhookFields } from './webhook.ts';

const list = buildCommand<CommonFlags, [], CliContext>({
  docs: { brief: 'List the webhooks of the project, without their secrets' },
  parameters: { flags: commonFlags, aliases: outputAlias },
  async func(flags) {
    const { client, project_id } = await connectToProject(this, flags);
    const { items } = await client.webhooks.list({ project_id });
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

const show = buildCommand<CommonFlags, [string], CliContext>({
  docs: { brief: 'Show a webhook, without its secret' },
  parameters: { flags: commonFlags, aliases: outputAlias, positional: webhookArgument },
  async func(flags, wanted) {
    const webhook = await findWebhook(await connectToProject(this, flags), wanted);
    printOne(this, webhook, { format: flags.output, fields: webhookFields(webhook) });
  },
});

const EVENT_TYPES = ['operation', 'vm', 'event'] as const;
type EventType = (typeof EVENT_TYPES)[number];
type CreateFlags = CommonFlags & {
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
      ...commonFlags,
      eventTypes: optionalText(
        `The types of events, with commas: ${EVENT_TYPES.join(', ')} (default: all)`,
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
      ...{ name, url, event_types: parseTypes(eventTypes) },
      ...(description !== undefined && { description }),
      ...(tag && { tags: tagObject(tag) }),
    };
    const { client, project_id } = await connectToProject(this, flags);
    const webhook = await client.webhooks.create({ project_id, body });
    const fields = [...webhookFields(webhook), ['Secret', webhook.secret]] as const;
    printOne(this, webhook, { format: flags.output, fields });
  },
});

function parseTypes(typed: string | undefined): EventType[] {
  const types = (typed ?? '').split(',').filter((type) => type !== '');
  return types.map((type) => {
    const known = EVENT_TYPES.find((each) => each === type);
    if (!known) throw new UsageError(`--event-types: ${type} is none of ${EVENT_TYPES.join(', ')}`);
    return known;
  });
}

type ReplayFlags = CommonFlags & { since: string | undefined; after: string | undefined };

const replay = buildCommand<ReplayFlags, [string], CliContext>({
  docs: {
    brief: 'Send the events since a time, or after an event, again',
    fullDescription: 'Every later event is sent again too, in its order and with its id.',
  },
  parameters: {
    flags: {
      ...commonFlags,
      since: optionalText('A time, such as 2030-01-31T12:00:00Z', 'time'),
      after: optionalText('The webhook-id of a message', 'event-id'),
    },
    aliases: outputAlias,
    positional: webhookArgument,
  },
  async func({ since, after, ...flags }, wanted) {
    if ((since === undefined) === (after === undefined))
      throw new UsageError('give one of --since and --after');
    const connection = await connectToProject(this, flags);
    const { client, project_id } = connection;
    const { id: webhook_id } = await findWebhook(connection, wanted);
    const body = { ...(since && { since }), ...(after && { after_event_id: after }) };
    const webhook = await client.webhooks.replay({ project_id, webhook_id, body });
    printOne(this, webhook, { format: flags.output, fields: webhookFields(webhook) });
  },
});

const enable = buildCommand<CommonFlags, [string], CliContext>({
  docs: { brief: 'Enable a webhook that was disabled' },
  parameters: { flags: commonFlags, aliases: outputAlias, positional: webhookArgument },
  async func(flags, wanted) {
    const connection = await connectToProject(this, flags);
    const { client, project_id } = connection;
    const { id: webhook_id } = await findWebhook(connection, wanted);
    const webhook = await client.webhooks.enable({ project_id, webhook_id });
    printOne(this, webhook, { format: flags.output, fields: webhookFields(webhook) });
  },
});

const rotateSecret = buildCommand<CommonFlags, [string], CliContext>({
  docs: {
    brief: 'Replace the secret of a webhook',
    fullDescription:
      'The new secret is printed this once. Messages are signed with both secrets for 24 hours.',
  },
  parameters: { flags: commonFlags, aliases: outputAlias, positional: webhookArgument },
  async func(flags, wanted) {
    const connection = await connectToProject(this, flags);
    const { client, project_id } = connection;
    const { id: webhook_id } = await findWebhook(connection, wanted);
    const webhook = await client.webhooks.rotateSecret({ project_id, webhook_id });
    const fields = [...webhookFields(webhook), ['Secret', webhook.secret]] as const;
    printOne(this, webhook, { format: flags.output, fields });
  },
});

const remove = buildCommand<CommonFlags & YesFlag, [string], CliContext>({
  docs: {
    brief: 'Delete a webhook',
    fullDescription: 'What was not delivered yet is dropped. On a terminal it asks first.',
  },
  parameters: {
    flags: { ...commonFlags, ...yesFlag },
    aliases: { ...outputAlias, y: 'yes' },
    positional: webhookArgument,
  },
  async func(flags, wanted) {
    const connection = await connectToProject(this, flags);
    const { client, project_id } = connection;
    const { id: webhook_id, name } = await findWebhook(connection, wanted);
    await confirm(this, flags, `Delete the webhook ${name}?`);
    const webhook = await client.webhooks.delete({ project_id, webhook_id });
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
