import { z } from '@hono/zod-openapi';
import {
  CatalogueName,
  Id,
  Page,
  ReplyId,
  ReplyIdOrEmpty,
  Timestamp,
  TimestampOrEmpty,
} from '../../http/fields.ts';

const JOIN_TOKEN_FIELDS = {
  id: ReplyId,
  location: z.string(),
  host_id: ReplyIdOrEmpty.openapi({
    description: 'The host that the token lets come back as itself; empty for a new host.',
  }),
  created_at: Timestamp,
  expires_at: Timestamp,
};

const DoctorFinding = z
  .object({
    severity: z.enum(['ok', 'warn', 'fail']).openapi({
      description: 'ok, or a warning, or a failure with which the server cannot be a host.',
    }),
    check: z.string(),
    message: z.string(),
  })
  .openapi('DoctorFinding');

export const JoinToken = z
  .object({
    ...JOIN_TOKEN_FIELDS,
    used_at: TimestampOrEmpty,
    examined_at: TimestampOrEmpty.openapi({
      description: 'When the server that holds the token was last examined; empty before that.',
    }),
    findings: z.array(DoctorFinding).openapi({
      description: 'What `gantry-agent doctor` found there, sent by the join line.',
    }),
  })
  .openapi('JoinToken');

export const JoinTokenPage = Page(JoinToken);

export const NewJoinToken = z
  .object({
    ...JOIN_TOKEN_FIELDS,
    token: z.string().openapi({ description: 'The token itself. No other reply shows it.' }),
    ca_sha256: z.string().openapi({
      description:
        'SHA-256 of the CA certificate of the fleet in lower-case hex. The host verifies the ' +
        'scheduler with it before it sends the token. Empty until a scheduler has created the ' +
        'CA.',
    }),
    join_line: z.string().openapi({
      description: 'The line to paste on the server. It installs, enrols and starts the agent.',
    }),
    join_commands: z.array(z.string()).openapi({
      description: 'The same as three commands, for a server whose apt has the package repository.',
    }),
  })
  .openapi('NewJoinToken');

/** A day is enough to set a host up. A month is enough for a host that is not delivered yet. */
const DEFAULT_HOURS = 24;
const MOST_HOURS = 720;

export const CreateJoinToken = z
  .strictObject({
    location: CatalogueName.optional(),
    host_id: Id.optional().openapi({
      description:
        'A host that comes back as itself, after its certificate has expired or was revoked, or ' +
        'after its system was installed again. Give this or `location`.',
    }),
    expires_in_hours: z.int().min(1).max(MOST_HOURS).default(DEFAULT_HOURS),
  })
  .superRefine(({ location, host_id }, context) => {
    if ((location === undefined) !== (host_id === undefined)) return;
    const message = host_id ? 'must not be given together with host_id' : 'is required';
    context.addIssue({ code: 'custom', path: ['location'], message });
  })
  .openapi('CreateJoinToken');

export const JoinTokenParams = z.object({ join_token_id: Id });
