import { endLogins } from '@gantry/db/queries/tenants/users';
import { z } from '@hono/zod-openapi';
import { route } from '../http/route.ts';
import { TokenReply } from '../tokens/schema.ts';
import { changePassword } from './change-password.ts';
import { confirmOwnTotp, readOwnTotp, removeOwnTotp, startTotp } from './change-totp.ts';
import { requireUser } from './own-user.ts';
import {
  ChangePassword,
  ConfirmedTotp,
  ConfirmTotp,
  RemoveTotp,
  StartedTotp,
  StartTotp,
  TotpState,
} from './schema.ts';

/** What users do to their own account. They need an access token, and no payment method. */
const OWN = { access: { level: 'authenticated' }, unpaid: true } as const;

export const accountRoutes = [
  route({
    ...OWN,
    id: 'account.change-password',
    method: 'post',
    path: '/auth/password',
    summary: 'Change your password; every login and token of yours ends, and you get new tokens',
    secretReply: true,
    changesAccess: true,
    body: ChangePassword,
    reply: TokenReply,
    handleRecorded: changePassword,
  }),
  route({
    ...OWN,
    id: 'account.log-out',
    method: 'post',
    path: '/auth/logout',
    summary: 'End every login and every token of yours',
    changesAccess: true,
    reply: z.object({}),
    handle: async ({ sql, caller }) => {
      await endLogins(sql, requireUser(caller).id);
      return {};
    },
  }),
  route({
    ...OWN,
    id: 'account.get-totp',
    method: 'get',
    path: '/auth/totp',
    summary: 'Show whether you have a second factor',
    reply: TotpState,
    handle: ({ sql, caller }) => readOwnTotp(sql, caller),
  }),
  route({
    ...OWN,
    id: 'account.start-totp',
    method: 'post',
    path: '/auth/totp',
    summary: 'Create the secret of a second factor, for an authenticator app',
    secretReply: true,
    body: StartTotp,
    reply: StartedTotp,
    handleRecorded: startTotp,
  }),
  route({
    ...OWN,
    id: 'account.confirm-totp',
    method: 'post',
    path: '/auth/totp:confirm',
    summary: 'Switch the second factor on with a code of the app',
    secretReply: true,
    body: ConfirmTotp,
    reply: ConfirmedTotp,
    handle: ({ deps, sql, caller, body, now }) =>
      confirmOwnTotp({ deps, sql, caller, code: body.totp, now }),
  }),
  route({
    ...OWN,
    id: 'account.remove-totp',
    method: 'post',
    path: '/auth/totp:remove',
    summary: 'Switch the second factor off',
    body: RemoveTotp,
    reply: z.object({}),
    handleRecorded: removeOwnTotp,
  }),
];
