import { z } from '@hono/zod-openapi';
import { NewPassword } from '../account/schema.ts';
import { Text } from '../http/fields.ts';
import { route } from '../http/route.ts';
import { acceptInvitation } from './accept.ts';

const AcceptInvitation = z
  .strictObject({ token: Text(256), password: NewPassword })
  .openapi('AcceptInvitation');

export const invitationRoutes = [
  route({
    id: 'invitations.accept',
    method: 'post',
    path: '/auth/invitations:accept',
    summary: 'Choose a password with an invitation; it works once',
    access: { level: 'public' },
    body: AcceptInvitation,
    reply: z.object({ email: z.string() }),
    handle: ({ deps, body, sourceIp, requestId, now }) =>
      acceptInvitation({ deps, ...body, sourceIp, requestId, now }),
  }),
];
