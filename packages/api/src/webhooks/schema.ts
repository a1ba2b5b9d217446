import {
  DELIVERY_STATES,
  PROJECT_STREAM_EVENT_TYPES,
  STREAM_EVENT_TYPES,
  type StreamEventType,
} from '@gantry/model/states';
import { z } from '@hono/zod-openapi';
import {
  Id,
  Name,
  Page,
  Paging,
  ReplyId,
  Text,
  Timestamp,
  TimestampOrEmpty,
} from '../http/fields.ts';
import { TaggedResourceQuery } from '../http/lists/resource-list.ts';
import { ReplyTags, Tags } from '../http/tags.ts';

const MAX_URL_LENGTH = 2_048;
const MAX_DESCRIPTION_LENGTH = 255;

export const Webhook = z
  .object({
    id: ReplyId,
    name: z.string(),
    url: z.string(),
    event_types: z.array(z.enum(STREAM_EVENT_TYPES)).openapi({ description: 'Empty: all types.' }),
    description: z.string(),
    tags: ReplyTags,
    state: z.enum(['enabled', 'disabled']),
    disabled_at: TimestampOrEmpty,
    disabled_reason: z.string(),
    old_secret_expires_at: TimestampOrEmpty.openapi({
      description: 'Until then messages are also signed with the secret before the last rotation.',
    }),
    created_at: Timestamp,
  })
  .openapi('Webhook');

export const WebhookPage = Page(Webhook);

export const NewWebhook = Webhook.extend({
  secret: z.string().openapi({
    description:
      'The secret that signs messages, which begins with whsec_. No other reply shows it.',
  }),
}).openapi('NewWebhook');

const fields = (types: readonly [StreamEventType, ...StreamEventType[]]) => ({
  name: Name,
  url: Text(MAX_URL_LENGTH),
  event_types: z
    .array(z.enum(types))
    .max(types.length, `must have at most ${types.length} types`)
    .openapi({ description: 'The types of events to send. Empty: all.' }),
  description: Text(MAX_DESCRIPTION_LENGTH),
  tags: Tags,
});

const creation = (types: readonly [StreamEventType, ...StreamEventType[]]) => {
  const { name, url, event_types, description, tags } = fields(types);
  return z.strictObject({
    name,
    url,
    event_types: event_types.default([]),
    description: description.default(''),
    tags: tags.optional(),
  });
};
const change = (types: readonly [StreamEventType, ...StreamEventType[]]) =>
  z
    .strictObject(fields(types))
    .partial()
    .refine((given) => Object.values(given).some((value) => value !== undefined), {
      path: ['name'],
      message: 'is required unless another member is given',
    });

export const CreateWebhook = creation(PROJECT_STREAM_EVENT_TYPES).openapi('CreateWebhook');
export const CreateAdminWebhook = creation(STREAM_EVENT_TYPES).openapi('CreateAdminWebhook');
export const ChangeWebhook = change(PROJECT_STREAM_EVENT_TYPES).openapi('ChangeWebhook');
export const ChangeAdminWebhook = change(STREAM_EVENT_TYPES).openapi('ChangeAdminWebhook');

export const ReplayWebhook = z
  .strictObject({
    since: z.iso.datetime('must be a timestamp such as 2030-01-31T12:00:00Z').optional(),
    after_event_id: Text(64).min(1, 'must not be empty').optional(),
  })
  .refine(({ since, after_event_id }) => (since === undefined) !== (after_event_id === undefined), {
    path: ['since'],
    message: 'is required unless after_event_id is given; give one of both',
  })
  .openapi('ReplayWebhook');

export const WebhookQuery = TaggedResourceQuery.extend({ limit: Paging.limit });

export const WebhookDelivery = z
  .object({
    id: ReplyId,
    event_id: z.string().openapi({ description: 'The header webhook-id of the message.' }),
    event_type: z.string(),
    resource_id: z.string(),
    state: z.enum(DELIVERY_STATES),
    attempts: z.number().int(),
    status_code: z.number().int().openapi({ description: 'Of the last attempt; 0: no reply.' }),
    latency_ms: z.number().int().openapi({ description: 'Of the last attempt.' }),
    error: z.string().openapi({ description: 'Why the last attempt failed.' }),
    created_at: Timestamp,
    last_attempt_at: TimestampOrEmpty,
    next_attempt_at: TimestampOrEmpty.openapi({
      description: 'Empty if it has ended, or waits for an earlier event of the same resource.',
    }),
  })
  .openapi('WebhookDelivery');

export const WebhookDeliveryPage = Page(WebhookDelivery);

export const WebhookDeliveryQuery = z.strictObject({
  ...Paging,
  state: z.enum(DELIVERY_STATES).optional(),
  event_id: Text(64).optional(),
  resource_id: Id.optional(),
});
