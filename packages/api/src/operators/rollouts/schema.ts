import { AGENT_VERSION_PATTERN, ROLLOUT_HOST_STATES, ROLLOUT_STATES } from '@gantry/model/rollouts';
import { z } from '@hono/zod-openapi';
import { Id, Page, Paging, ReplyId, Timestamp, TimestampOrEmpty } from '../../http/fields.ts';
import { ReplyTags, Tags } from '../../http/tags.ts';

const MOST_HOSTS = 10_000;
/** Other hosts wait for the whole batch, so a larger one would hardly be faster. */
const LARGEST_BATCH = 1_000;
const LONGEST_LIMIT_S = 7_200;
const DEFAULT_LIMIT_S = 600;
const DEFAULT_BATCH = 10;

export const CreateRollout = z
  .strictObject({
    version: z
      .string()
      .regex(AGENT_VERSION_PATTERN, 'must be a version of the package gantry-agent, such as 0.2.0')
      .openapi({ description: 'The version of the package gantry-agent.' }),
    labels: Tags.openapi({
      description: 'Hosts that have all of these labels are selected. An empty object: all hosts.',
    }),
    canary_count: z.int().min(0).max(MOST_HOSTS).default(1).openapi({
      description: 'How many hosts are upgraded first.',
    }),
    batch_size: z.int().min(1).max(LARGEST_BATCH).default(DEFAULT_BATCH).openapi({
      description: 'How many hosts are upgraded at a time after the canaries.',
    }),
    host_time_limit_seconds: z.int().min(10).max(LONGEST_LIMIT_S).default(DEFAULT_LIMIT_S).openapi({
      description:
        'A host that is not connected with the version by then has failed, and installs its earlier version again.',
    }),
    max_failures: z.int().min(0).max(MOST_HOSTS).default(0).openapi({
      description: 'The rollout pauses as soon as more hosts than this have failed.',
    }),
  })
  .openapi('CreateRollout');

const counts = Object.fromEntries(ROLLOUT_HOST_STATES.map((state) => [state, z.int()])) as Record<
  string,
  z.ZodInt
>;

export const Rollout = z
  .object({
    id: ReplyId,
    version: z.string(),
    labels: ReplyTags.openapi({ description: 'The labels by which the hosts were selected.' }),
    canary_count: z.int(),
    batch_size: z.int(),
    host_time_limit_seconds: z.int(),
    max_failures: z.int(),
    state: z.enum(ROLLOUT_STATES),
    state_reason: z.string().openapi({ description: 'Empty if the state needs no explanation.' }),
    wave: z.int().openapi({ description: 'The wave that is carried out. Canaries are wave 0.' }),
    last_wave: z.int(),
    hosts: z.object(counts).openapi({ description: 'How many hosts are in each state.' }),
    created_at: Timestamp,
    ended_at: TimestampOrEmpty,
  })
  .openapi('Rollout');

export const RolloutPage = Page(Rollout);

const RolloutHost = z
  .object({
    host_id: ReplyId,
    name: z.string(),
    wave: z.int(),
    state: z.enum(ROLLOUT_HOST_STATES),
    reason: z.string().openapi({ description: 'Why it failed or was skipped; empty otherwise.' }),
    from_version: z.string().openapi({
      description: 'The version that it had when its wave began; empty before.',
    }),
    agent_version: z.string().openapi({ description: 'The version that it reported last.' }),
    ordered_at: TimestampOrEmpty.openapi({
      description: 'When it was last told to change its version; empty if it was not.',
    }),
    ended_at: TimestampOrEmpty,
  })
  .openapi('RolloutHost');

export const RolloutHostPage = Page(RolloutHost);

export const RolloutParams = z.object({ rollout_id: Id });

export const RolloutHostQuery = z.strictObject({
  state: z.enum(ROLLOUT_HOST_STATES).optional(),
  ...Paging,
});
