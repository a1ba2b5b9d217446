import { makeTenant } from '@gantry/testkit/make/tenants';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Fields,
  NOBODY,
  type OpenApi,
  type OpenApiOperation,
  readOpenApi,
  startWorld,
  type World,
} from './support.ts';

let world: World;
let document: OpenApi;
let operations: { method: string; path: string; operation: OpenApiOperation }[];

beforeAll(async () => {
  world = await startWorld();
  document = await readOpenApi(world.api);
  operations = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ method, path, operation })),
  );
});
afterAll(() => world.api.stop());

const P = '/projects/{project_id}';
const O = '/organizations/{organization_id}';

/** The endpoints that the first clients were written against. */
const FIRST = [
  'POST /auth/token',
  'GET ',
  'GET /organizations',
  'GET /projects',
  `GET ${O}/billing`,
  `GET ${P}/availabilities`,
  `GET ${P}/specs`,
  `GET ${P}/images`,
  `POST ${P}/vms`,
  `GET ${P}/vms/operations/{operation_id}`,
  `GET ${P}/vms/{vm_id}`,
  `POST ${P}/disks`,
  `POST ${P}/vpc/firewall-rules`,
  `GET ${P}/vpc/firewall-rules`,
  `GET ${P}/vpc/firewall-rules/operations/{operation_id}`,
];

/** The endpoints that complete them. */
const COMPLETING = [
  'GET /locations',
  `GET ${P}/vms`,
  `DELETE ${P}/vms/{vm_id}`,
  `PATCH ${P}/vms/{vm_id}`,
  `POST ${P}/vms/{vm_id}/attach-disks`,
  `POST ${P}/vms/{vm_id}/detach-disks`,
  `GET ${P}/vms/operations`,
  `GET ${P}/disks/operations`,
  `GET ${P}/vpc/firewall-rules/operations`,
  `GET ${P}/disks/operations/{operation_id}`,
  `GET ${P}/disks`,
  `GET ${P}/disks/{disk_id}`,
  `PATCH ${P}/disks/{disk_id}`,
  `DELETE ${P}/disks/{disk_id}`,
  `GET ${P}/vpc/firewall-rules/{rule_id}`,
  `PATCH ${P}/vpc/firewall-rules/{rule_id}`,
  `DELETE ${P}/vpc/firewall-rules/{rule_id}`,
  `GET ${P}/vpc/networks`,
  `GET ${P}/vpc/networks/{network_id}`,
  `POST ${P}/vpc/networks`,
  `DELETE ${P}/vpc/networks/{network_id}`,
  `GET ${P}/vpc/subnets`,
  `GET ${P}/vpc/subnets/{subnet_id}`,
  `POST ${P}/vpc/subnets`,
  `DELETE ${P}/vpc/subnets/{subnet_id}`,
  `GET ${P}/quotas`,
  `GET ${P}/access-keys`,
  `POST ${P}/access-keys`,
  `DELETE ${P}/access-keys/{access_key_id}`,
  `GET ${O}/usage`,
  `GET ${O}/audit-logs`,
  'POST /organizations',
  `PATCH ${O}`,
  `DELETE ${O}`,
  'POST /projects',
  `PATCH ${P}`,
  `DELETE ${P}`,
];

/** For accounts, members, SSH keys, events, receipts, consoles, traces, prices, standing and limits. */
const FURTHER = [
  ...['POST /auth/password', 'POST /auth/logout', 'POST /auth/invitations:accept'],
  ...['GET /auth/totp', 'POST /auth/totp', 'POST /auth/totp:confirm', 'POST /auth/totp:remove'],
  ...[`GET ${O}/members`, `POST ${O}/members`, `DELETE ${O}/members/{member_id}`],
  ...[`PATCH ${P}/vpc/networks/{network_id}`, `PATCH ${P}/vpc/subnets/{subnet_id}`],
  ...[`POST ${P}/vpc/public-addresses`, `GET ${P}/vpc/public-addresses`],
  ...['GET', 'PATCH', 'DELETE'].map((verb) => `${verb} ${P}/vpc/public-addresses/{address_id}`),
  ...['attach', 'detach'].map((verb) => `POST ${P}/vms/{vm_id}/${verb}-public-address`),
  ...['POST /auth/ssh-keys', 'GET /auth/ssh-keys'],
  ...['GET', 'DELETE'].map((verb) => `${verb} /auth/ssh-keys/{user_ssh_key_id}`),
  ...[`POST ${P}/ssh-keys`, `GET ${P}/ssh-keys`],
  ...[`GET ${P}/ssh-keys/{ssh_key_id}`, `DELETE ${P}/ssh-keys/{ssh_key_id}`],
  ...[`PATCH ${P}/ssh-keys/{ssh_key_id}`, `GET ${P}/access-keys/{access_key_id}`],
  ...[`PATCH ${P}/access-keys/{access_key_id}`, `GET ${P}/vms/{vm_id}/usage`],
  ...[`GET ${P}/events`, `GET ${P}/device-receipts`, `GET ${P}/vms/{vm_id}/serial-log`],
  ...[`GET ${P}/vms/{vm_id}/console`, `POST ${P}/vms/{vm_id}/console`],
  ...[`POST ${P}/vpc/firewall-rules:trace`, `POST ${P}/vms:validate`],
  ...[`GET ${P}/prices`, `GET ${O}/standing`, `GET ${O}/quotas`],
  ...[`GET ${O}`, `GET ${P}`, `GET ${O}/members/{member_id}`, 'GET /locations/{location}'],
  ...[`GET ${P}/specs/{product_name}`, `GET ${P}/images/{image_id}`],
  ...[`GET ${P}/device-receipts/{receipt_id}`, 'GET /auth/logins'],
  ...['GET', 'DELETE'].map((verb) => `${verb} /auth/logins/{login_id}`),
  ...['GET', 'POST'].map((verb) => `${verb} ${P}/snapshots`),
  ...['GET', 'PATCH', 'DELETE'].map((verb) => `${verb} ${P}/snapshots/{snapshot_id}`),
  ...[`POST ${P}/snapshots/{snapshot_id}:restore`, `GET ${P}/snapshots/operations`],
  `GET ${P}/snapshots/operations/{operation_id}`,
  ...['GET', 'POST'].map((verb) => `${verb} ${P}/backups`),
  ...['GET', 'PATCH', 'DELETE'].map((verb) => `${verb} ${P}/backups/{backup_id}`),
  ...[`GET ${P}/backups/operations`, `GET ${P}/backups/operations/{operation_id}`],
  ...['GET', 'PUT', 'DELETE'].map((verb) => `${verb} ${P}/disks/{disk_id}/backup-schedule`),
  ...[`POST ${P}/images`, `PATCH ${P}/images/{image_id}`, `DELETE ${P}/images/{image_id}`],
  ...['GET', 'POST'].map((verb) => `${verb} ${P}/images/{image_id}/upload`),
  `POST ${P}/images/{image_id}:finish-upload`,
  ...[`GET ${P}/images/operations`, `GET ${P}/images/operations/{operation_id}`],
  ...['GET', 'POST'].map((verb) => `${verb} ${P}/webhooks`),
  ...['GET', 'PATCH', 'DELETE'].map((verb) => `${verb} ${P}/webhooks/{webhook_id}`),
  ...['rotate-secret', 'test', 'replay', 'enable'].map(
    (verb) => `POST ${P}/webhooks/{webhook_id}:${verb}`,
  ),
  ...['', '/{delivery_id}'].map((one) => `GET ${P}/webhooks/{webhook_id}/deliveries${one}`),
];

/** Names of parameters do not matter to clients. */
const anonymous = (endpoint: string) => endpoint.replaceAll(/\{\w+\}/g, '{}');
const served = () =>
  operations.map(({ method, path }) =>
    anonymous(`${method.toUpperCase()} ${path.replace('/v0.1', '')}`),
  );

describe('docs/contract: endpoints', () => {
  for (const endpoint of FIRST) {
    it(`the API has ${endpoint}`, () => expect(served()).toContain(anonymous(endpoint)));
  }
  for (const endpoint of COMPLETING) {
    it(`the API has ${endpoint}`, () => expect(served()).toContain(anonymous(endpoint)));
  }
  for (const noun of [
    ...['hosts', 'join tokens', 'drain', 'quarantine', 'images', 'locations', 'prices', 'quotas'],
    ...['organizations', 'users'],
  ]) {
    it(`the API has ${noun} for operators under /v0.1/admin`, () => {
      const word = new RegExp(noun.replace(' ', '[ -]'), 'i');
      const found = operations.filter(
        ({ path, operation }) =>
          path.startsWith('/v0.1/admin/') && word.test(`${path} ${operation.summary}`),
      );
      expect(found.map(({ path }) => path)).not.toEqual([]);
    });
  }
  it('the API has no other endpoints', () => {
    const known = new Set([...FIRST, ...COMPLETING, ...FURTHER].map(anonymous));
    const others = served().filter((endpoint) => !/ \/admin\//.test(endpoint));
    expect(others.filter((endpoint) => !known.has(endpoint))).toEqual([]);
    expect(others).toHaveLength(known.size);
  });
});

describe('the OpenAPI document', () => {
  it('is of version 3.1 and has a title and a version', () => {
    expect(document.openapi).toMatch(/^3\.1\.\d+$/);
    expect(document).toMatchObject({
      info: { title: expect.stringMatching(/./), version: expect.stringMatching(/./) },
    });
  });
  it('names each operation once', () => {
    const ids = operations.map(({ operation }) => operation.operationId);
    for (const id of ids) expect(id).toMatch(/^[\w.-]+$/);
    expect(ids.toSorted()).toEqual([...new Set(ids)].toSorted());
  });
  it('declares every path parameter, and only those in the path', () => {
    for (const { method, path, operation } of operations) {
      const declared = (operation.parameters ?? []).filter((parameter) => parameter.in === 'path');
      expect(declared.map(({ name }) => name).toSorted(), `${method} ${path}`).toEqual(
        [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).toSorted(),
      );
      for (const { required } of declared) expect(required).toBe(true);
    }
  });
  it('has the target of every reference', () => {
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)];
    expect(references.length).toBeGreaterThan(10);
    for (const [, reference = ''] of references) {
      expect(reference).toMatch(/^#\//);
      const target = reference
        .slice(2)
        .split('/')
        .reduce<unknown>((value, key) => (value as Fields | undefined)?.[key], document);
      expect(target, reference).toBeTypeOf('object');
    }
  });
  it('describes each reply by a schema, and every error by the same one', () => {
    for (const { method, path, operation } of operations) {
      for (const [status, { content }] of Object.entries(operation.responses)) {
        // After the upgrade the connection is not HTTP.
        if (status === '101') continue;
        const schema = content['application/json']?.schema;
        expect(schema, `${method} ${path} ${status}`).toBeTypeOf('object');
        if (status !== '200') expect(schema).toEqual({ $ref: '#/components/schemas/Error' });
      }
    }
  });
});

describe('docs/contract/README.md#rules-for-every-endpoint', () => {
  /** A call of an endpoint with ids that do not exist. */
  const call = (method: string, path: string, bearer?: string) =>
    world.api.call(method.toUpperCase(), path.replace('/v0.1', '').replaceAll(/\{\w+\}/g, NOBODY), {
      ...(bearer === undefined ? {} : { bearer }),
      ...(method === 'get' ? {} : { body: {} }),
    });

  it('every path has the prefix /v0.1', () => {
    for (const { path } of operations) expect(path).toMatch(/^\/v0\.1(\/|$)/);
  });
  it('every body is JSON', async () => {
    for (const { method, path } of operations) {
      const { headers } = await call(method, path, world.tenant.owner.token);
      expect(headers.get('content-type'), `${method} ${path}`).toMatch(/^application\/json/);
    }
  });
  it('every endpoint needs a bearer, except those for tokens and invitations', async () => {
    const open = ['/v0.1/auth/token', '/v0.1/auth/invitations:accept'];
    for (const { method, path } of operations) {
      const expected = open.includes(path) ? 400 : 401;
      expect([method, path, (await call(method, path)).status]).toEqual([method, path, expected]);
    }
  });
  it('success is status 200', () => {
    for (const { method, path, operation } of operations) {
      const good = Object.keys(operation.responses).filter((status) => status < '400');
      const expected = method === 'get' && path.endsWith('/console') ? '101' : '200';
      expect([method, path, good]).toEqual([method, path, [expected]]);
    }
  });
  it('path parameters that end in id are UUIDs', async () => {
    const { get } = world;
    const { projectId, organizationId } = await makeTenant(world.api, 'upper-case');
    for (const [path, field] of [
      ['/projects/7/vms', 'project_id'],
      [`${world.P}/vms/7`, 'vm_id'],
      [`${world.P}/vms/operations/7`, 'operation_id'],
      ['/organizations/7/billing', 'organization_id'],
      [`${world.P}/vpc/networks/7`, 'network_id'],
    ] as const) {
      const { status, body } = await get(path);
      expect([path, status, body.details?.[0]?.field]).toEqual([path, 400, field]);
    }
    // A UUID in upper case is the same UUID; these belong to another tenant.
    expect((await get(`/projects/${projectId.toUpperCase()}/vms`)).status).toBe(404);
    expect((await get(`/organizations/${organizationId.toUpperCase()}/billing`)).status).toBe(404);
    expect((await get(`/projects/${world.tenant.projectId.toUpperCase()}/vms`)).status).toBe(200);
  });
});
