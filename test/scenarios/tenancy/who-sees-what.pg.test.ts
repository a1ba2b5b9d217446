import type { AnyRoute } from '@gantry/api/http/route';
import { ALL_ROUTES } from '@gantry/api/routes';
import {
  OPERATOR_ROLES,
  type OperatorRole,
  operatorRoleReaches,
  type Role,
  roleReaches,
} from '@gantry/model/states';
import { startTestApi, type TestApi } from '@gantry/testkit/api/test-api';
import { addHost } from '@gantry/testkit/make/hosts';
import { makeUser, type TestUser } from '@gantry/testkit/make/tenants';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Estate, makeEstate, snapshot } from './estate.ts';
import { EXAMPLES, NOWHERE } from './route-examples.ts';

/**
 * Calls every route as every kind of caller. The expected result follows from the access rights of
 * the route.
 */
let api: TestApi;
let mine: Estate;
let theirs: Estate;
let operator: TestUser;
let operators: Record<OperatorRole, TestUser>;

beforeAll(async () => {
  api = await startTestApi();
  // A rollout needs a host.
  await addHost(api.sql);
  operator = await makeUser(api, 'operator@gantry.test', { operator: true });
  const ofRole = async (role: OperatorRole) =>
    makeUser(api, `${role}@gantry.test`, { operator: true, operatorRole: role });
  operators = {
    'read-only': await ofRole('read-only'),
    support: await ofRole('support'),
    admin: await ofRole('admin'),
  };
  mine = await makeEstate(api, 'mine');
  theirs = await makeEstate(api, 'theirs');
});
afterAll(() => api.stop());

/** An estate with ids that do not exist. */
const withoutIds = (estate: Estate): Estate => ({
  ...estate,
  ids: Object.fromEntries(Object.keys(estate.ids).map((id) => [id, NOWHERE])),
});

/** Sends the route's example for an estate, with some of its ids replaced. */
async function send(
  route: AnyRoute,
  estate: Estate,
  bearer: string | undefined,
  replaced: Record<string, string> = {},
) {
  const example = EXAMPLES[route.id]?.(estate) ?? {};
  const params = { ...estate.ids, ...example.params, ...replaced };
  const path = route.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => params[name] ?? NOWHERE);
  return await api.call(route.method.toUpperCase(), path, {
    ...(bearer === undefined ? {} : { bearer }),
    ...(example.body === undefined ? {} : { body: example.body }),
  });
}

const bearersOf = (estate: Estate): [string, string, Role][] => [
  ['read-only key', estate.readOnlyKey, 'read-only'],
  ['read-only user', estate.readOnly.token, 'read-only'],
  ['member key', estate.accessKey, 'member'],
  ['member', estate.member.token, 'member'],
  ['owner', estate.owner.token, 'owner'],
];

/** Routes that delete what other routes need come last. */
const routes = ALL_ROUTES.toSorted(
  (a, b) => Number(a.method === 'delete') - Number(b.method === 'delete'),
);
const at = (...levels: string[]) => routes.filter(({ access }) => levels.includes(access.level));
/** The role that a route of a project or an organization needs. */
const roleFor = ({ access }: AnyRoute): Role =>
  access.level === 'project' || access.level === 'organization' ? access.role : 'operator';
const name = (route: AnyRoute) => `${route.method.toUpperCase()} ${route.path || '/'}`;

it('every route has an example in this test', () => {
  expect(ALL_ROUTES.map(({ id }) => id).filter((id) => !EXAMPLES[id])).toEqual([]);
  expect(
    Object.keys(EXAMPLES).filter((id) => !ALL_ROUTES.some((route) => route.id === id)),
  ).toEqual([]);
});

it('every route refuses a request without a valid bearer, except those that make or replace one', async () => {
  const open = ALL_ROUTES.filter(({ access }) => access.level === 'public').map(({ id }) => id);
  expect(open).toEqual(['tokens.grant', 'invitations.accept']);
  for (const route of ALL_ROUTES.filter(({ id }) => !open.includes(id))) {
    for (const bearer of [undefined, 'gantry_ak_wrong', 'not.a.token', '']) {
      const reply = await send(route, mine, bearer);
      expect([name(route), reply.status, reply.body.code]).toEqual([
        name(route),
        401,
        'bad_credential',
      ]);
    }
  }
});

describe('strangers', () => {
  // This runs first, because refused attempts add other tenants' ids to the caller's audit log.
  it.each(
    at('authenticated', 'project', 'organization')
      .filter(({ method }) => method === 'get')
      .map((route) => [name(route), route] as const),
  )('%s shows nobody an id of another tenant', async (_name, route) => {
    const foreign = [...Object.values(mine.ids), mine.owner.id, mine.member.id, mine.owner.email];
    for (const [who, bearer] of bearersOf(theirs)) {
      const reply = await send(route, theirs, bearer);
      const text = JSON.stringify(reply.body);
      expect([who, foreign.filter((id) => text.includes(id))]).toEqual([who, []]);
    }
  });

  it.each(at('project', 'organization').map((route) => [name(route), route] as const))(
    '%s does not exist for anyone of another organization, and nothing changes',
    async (_name, route) => {
      const before = await snapshot(api, mine);
      for (const [who, bearer] of bearersOf(theirs)) {
        const reply = await send(route, mine, bearer);
        expect([who, reply.status, reply.body.code]).toEqual([who, 404, 'not_found']);
      }
      expect(await snapshot(api, mine)).toBe(before);
    },
  );

  it.each(
    at('project', 'organization')
      .filter(({ path }) => (path.match(/\{/g) ?? []).length > 1)
      .map((route) => [name(route), route] as const),
  )(
    '%s does not find a resource of another tenant through a project of one’s own',
    async (_name, route) => {
      const before = await snapshot(api, mine);
      const own = { project_id: theirs.projectId, organization_id: theirs.organizationId };
      const reply = await send(route, mine, theirs.owner.token, own);
      expect([reply.status, reply.body.code]).toEqual([404, 'not_found']);
      const nowhere = await send(route, withoutIds(mine), theirs.owner.token, own);
      expect({ ...reply.body, error_id: '' }).toEqual({ ...nowhere.body, error_id: '' });
      expect(await snapshot(api, mine)).toBe(before);
    },
  );

  it('a request cannot refer to resources of strangers in its body', async () => {
    const referring = [
      'vms.attach-disks',
      'vms.detach-disks',
      'firewall-rules.create',
      'firewall-rules.trace',
      'subnets.create',
      'projects.create',
    ];
    for (const route of ALL_ROUTES.filter(({ id }) => referring.includes(id))) {
      const before = await snapshot(api, mine);
      const own = { project_id: theirs.projectId, vm_id: theirs.ids['vm_id'] ?? '' };
      const reply = await send(route, mine, theirs.owner.token, own);
      expect([route.id, reply.status < 500 && reply.status >= 400]).toEqual([route.id, true]);
      expect(await snapshot(api, mine)).toBe(before);
    }
  });
});

describe('operators', () => {
  it.each(at('operator').map((route) => [name(route), route] as const))(
    '%s is forbidden to everyone else',
    async (_name, route) => {
      for (const [who, bearer] of bearersOf(mine)) {
        const reply = await send(route, mine, bearer);
        expect([who, reply.status, reply.body.code]).toEqual([who, 403, 'forbidden']);
      }
      const reply = await send(route, mine, operator.token);
      // The VM of the example cannot be moved, because its disks are on its host.
      const accepted = route.id === 'admin-vms.move' ? [409] : [200, 404];
      expect(accepted).toContain(reply.status);
    },
  );

  it.each(at('operator').map((route) => [name(route), route] as const))(
    '%s is open to the operator role it states and above, and forbidden below',
    async (_name, route) => {
      if (route.access.level !== 'operator') throw new Error('not a route of operators');
      for (const role of OPERATOR_ROLES) {
        const reply = await send(route, mine, operators[role].token);
        const needed = route.access.role;
        expect([role, reply.status !== 403]).toEqual([role, operatorRoleReaches(role, needed)]);
        expect(reply.status).toBeLessThan(500);
      }
    },
  );

  it.each(at('project', 'organization').map((route) => [name(route), route] as const))(
    '%s is open to operators who may see it, or change what tenants have',
    async (_name, route) => {
      const needed = roleFor(route);
      for (const [role, asTenant] of [
        ['read-only', 'read-only'],
        ['support', 'owner'],
      ] as const) {
        const reply = await send(route, withoutIds(mine), operators[role].token, {
          project_id: mine.projectId,
          organization_id: mine.organizationId,
        });
        const allowed = reply.status !== 403 && reply.status < 500;
        expect([role, allowed]).toEqual([role, roleReaches(asTenant, needed)]);
      }
    },
  );
});

describe('roles', () => {
  it.each(at('project', 'organization').map((route) => [name(route), route] as const))(
    '%s is open to the role it states and above, and forbidden below',
    async (_name, route) => {
      const needed = roleFor(route);
      const callers: [string, string, Role][] = [
        ...bearersOf(mine),
        ['operator', operator.token, 'operator'],
      ];
      for (const [who, bearer, role] of callers) {
        const reply = await send(route, mine, bearer);
        // The first permitted call may have used the resource up: then the reply is a conflict or
        // not_found.
        const allowed = ![401, 402, 403].includes(reply.status) && reply.status < 500;
        expect([who, allowed]).toEqual([who, roleReaches(role, needed)]);
        if (!allowed) expect(reply.body.code).toBe('forbidden');
      }
    },
  );
});
