import type { Queryable } from '@gantry/db/connect';
import { endLogin, listOpenLogins } from '@gantry/db/queries/tenants/open-logins';
import { found } from '@gantry/model/errors';
import { requireUser } from '../account/own-user.ts';
import type { Caller } from '../auth/caller.ts';
import { page, toIdListing } from '../http/fields.ts';
import { route } from '../http/route.ts';
import { Login, LoginPage, LoginParams, LoginQuery } from './schema.ts';
import { loginView } from './view.ts';

/** The logins of the user who sends the request. */
const OWN = { access: { level: 'authenticated' }, unpaid: true } as const;

export const loginRoutes = [
  route({
    ...OWN,
    id: 'logins.list',
    method: 'get',
    path: '/auth/logins',
    summary: 'List your logins that have not ended, oldest first',
    query: LoginQuery,
    reply: LoginPage,
    handle: async ({ sql, caller, query }) => {
      const userId = requireUser(caller).id;
      const rows = await listOpenLogins(sql, { userId, ...toIdListing(query) });
      return page(rows, query.limit, (row) => loginView(row, loginOf(caller)));
    },
  }),
  route({
    ...OWN,
    id: 'logins.get',
    method: 'get',
    path: '/auth/logins/{login_id}',
    summary: 'Read a login of yours',
    params: LoginParams,
    reply: Login,
    handle: async ({ sql, caller, params }) =>
      loginView(await readOwnLogin(sql, caller, params.login_id), loginOf(caller)),
  }),
  route({
    ...OWN,
    id: 'logins.delete',
    method: 'delete',
    path: '/auth/logins/{login_id}',
    summary: 'End a login of yours and its tokens; your other logins stay',
    changesAccess: true,
    params: LoginParams,
    reply: Login,
    handle: async ({ sql, caller, params }) => {
      const login = await readOwnLogin(sql, caller, params.login_id);
      await endLogin(sql, { userId: requireUser(caller).id, loginId: login.id });
      return loginView(login, loginOf(caller));
    },
  }),
];

async function readOwnLogin(sql: Queryable, caller: Caller, loginId: string) {
  const only = { ids: [loginId], after: null, limit: 1 };
  const [login] = await listOpenLogins(sql, { userId: requireUser(caller).id, ...only });
  return found(login, 'login');
}

/** The login that the request belongs to. */
const loginOf = (caller: Caller) => (caller.type === 'user' ? caller.loginId : '');
