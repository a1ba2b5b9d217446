import type { Schemas } from '@gantry/sdk';
import { webhookNames } from '../complete-names.ts';
import { argument } from '../flags.ts';
import { showTags } from '../tags.ts';

type Webhook = Schemas['Webhook'];

const webhookParameter = argument('The name or the id of the webhook', 'webhook', webhookNames);
export const webhookArgument = { kind: 'tuple', parameters: [webhookParameter] } as const;

export function showEventTypes({ event_types }: Webhook): string {
  return event_types.join(', ') || 'all';
}

export function webhookFields(webhook: Webhook) {
  const { id, name, url, description, tags, state, disabled_reason, created_at } = webhook;
  return [
    ['Name', name],
    ['Id', id],
    ['URL', url],
    ['Event types', showEventTypes(webhook)],
    ['Description', description],
    ['State', disabled_reason === '' ? state : `${state}: ${disabled_reason}`],
    ['Tags', showTags(tags)],
    ['Created', created_at],
  ] as const;
}
