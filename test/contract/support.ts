import type { Deps } from '@gantry/api/deps';
import { type Reply, startTestApi, type TestApi } from '@gantry/testkit/api/test-api';
import { finishDisk, finishRule, finishVm } from '@gantry/testkit/make/finished';
import { diskBody, LOCATION, ruleBody, vmBody } from '@gantry/testkit/make/request-bodies';
import { makeTenant, makeUser, type TestTenant } from '@gantry/testkit/make/tenants';
import { expect } from 'vitest';

/**
 * The contract is the pages in docs/contract. These tests check it through the API alone, and each
 * group names the page and the section that it checks. SQL statements stand in for what only a
 * scheduler or a host does.
 */

export const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
export const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;
export const IPV4 = /^\d{1,3}(\.\d{1,3}){3}$/;
export const OTHER_LOCATION = 'us-east-a';
export const NOBODY = '00000000-0000-4000-8000-000000000000';

export type Fields = Record<string, unknown>;
type Headers = Record<string, string>;

/** Calls as one caller. */
export type Client = {
  get(path: string): Promise<Reply>;
  post(path: string, body?: unknown, headers?: Headers): Promise<Reply>;
  patch(path: string, body?: unknown, headers?: Headers): Promise<Reply>;
  put(path: string, body?: unknown): Promise<Reply>;
  delete(path: string, headers?: Headers): Promise<Reply>;
};

export function clientOf(api: TestApi, bearer: string): Client {
  return {
    get: (path) => api.call('GET', path, { bearer }),
    post: (path, body, headers = {}) => api.call('POST', path, { bearer, body, headers }),
    patch: (path, body, headers = {}) => api.call('PATCH', path, { bearer, body, headers }),
    put: (path, body) => api.call('PUT', path, { bearer, body }),
    delete: (path, headers = {}) => api.call('DELETE', path, { bearer, headers }),
  };
}

/** An api with one tenant; calls go out with the access key of its project. */
export type World = Client & {
  api: TestApi;
  tenant: TestTenant;
  /** The paths of the project and of its organization. */
  P: string;
  O: string;
  owner: Client;
  operator: Client;
};

export async function startWorld(overrides: Partial<Deps> = {}): Promise<World> {
  const api = await startTestApi(overrides);
  const tenant = await makeTenant(api, 'acme');
  const operator = await makeUser(api, 'operator@gantry.test', { operator: true });
  return {
    ...clientOf(api, tenant.accessKey),
    ...{ api, tenant },
    P: `/projects/${tenant.projectId}`,
    O: `/organizations/${tenant.organizationId}`,
    owner: clientOf(api, tenant.owner.token),
    operator: clientOf(api, operator.token),
  };
}

export type Operation = {
  operation_id: string;
  state: string;
  metadata: { operation_name: string; id: string; type: string; request: Fields };
  result: Fields | null;
  started_at: string;
  completed_at: string;
};

/** The operation of an accepted request. */
export function operationOf(reply: Reply): Operation {
  expect(reply.body).toEqual({ operation: expect.anything() });
  expect(reply.status).toBe(200);
  return reply.body.operation;
}

/** The id of a VM that its host has brought into a state. */
export async function makeVm(
  { api, post, P }: World,
  changes: Fields = {},
  observed: 'running' | 'stopped' | 'crashed' | 'failed' = 'running',
): Promise<string> {
  const { metadata } = operationOf(await post(`${P}/vms`, vmBody(changes)));
  await finishVm(api.sql, metadata.id, observed);
  return metadata.id;
}

export async function makeDisk({ api, post, P }: World, changes: Fields = {}): Promise<string> {
  const { metadata } = operationOf(await post(`${P}/disks`, diskBody(changes)));
  await finishDisk(api.sql, metadata.id);
  return metadata.id;
}

export async function makeRule(world: World, changes: Fields = {}): Promise<string> {
  const { api, post, P } = world;
  const body = ruleBody(await defaultNetworkOf(world), changes);
  const { metadata } = operationOf(await post(`${P}/vpc/firewall-rules`, body));
  await finishRule(api.sql, metadata.id);
  return metadata.id;
}

export async function attachDisk(
  { api, post, P }: World,
  { vmId, diskId, mode = 'read-write' }: { vmId: string; diskId: string; mode?: string },
): Promise<void> {
  const attach_disks = [{ disk_id: diskId, mode, attachment_type: 'data' }];
  operationOf(await post(`${P}/vms/${vmId}/attach-disks`, { attach_disks }));
  await finishVm(api.sql, vmId, 'running');
}

export async function defaultNetworkOf({ get, P }: World): Promise<string> {
  return (await get(`${P}/vpc/networks`)).body.items[0].id;
}

/** Assigns addresses to a VM as a scheduler does. */
export async function giveAddresses(
  { api: { sql } }: World,
  { vmId, privateIp, publicIp }: { vmId: string; privateIp?: string; publicIp?: string },
): Promise<void> {
  const of = sql`from network_interfaces where vm_id = ${vmId}`;
  if (privateIp !== undefined) {
    await sql`insert into address_claims (network_interface_id, subnet_id, address)
      select id, subnet_id, ${privateIp}::inet ${of}`;
  }
  if (publicIp !== undefined) {
    await sql`insert into public_addresses (id, location, address, network_interface_id)
      select gen_random_uuid(), ${LOCATION}, ${publicIp}::inet, id ${of}`;
  }
}

export function expectRefusal(reply: Reply, status: number, code: string): void {
  expect(reply.body).toMatchObject({ code, message: expect.stringMatching(/./) });
  expect(reply.status).toBe(status);
}

/** Expects status 400 with details that name the field and the reason. */
export function expectFieldRefused(reply: Reply, field: string): void {
  expectRefusal(reply, 400, 'bad_request');
  const details = reply.body.details as { field: string; reason: string }[];
  const named = details.filter((detail) => detail.field.split('.')[0] === field);
  expect(named, JSON.stringify(details)).not.toEqual([]);
  for (const { reason } of named) expect(reason).toMatch(/./);
}

export type BodyField = {
  /** Sends a body with the request's other fields. */
  send: (body: Fields) => Promise<Reply>;
  body: Fields;
  field: string;
  /** A value of another type. */
  wrong: unknown;
};

/**
 * Expects that a request without the field, or with a value of another type, is refused with the
 * name of the field.
 */
export async function expectRequired({ send, body, field, wrong }: BodyField): Promise<void> {
  const { [field]: _left, ...without } = body;
  expectFieldRefused(await send(without), field);
  expectFieldRefused(await send({ ...body, [field]: wrong }), field);
  expect((await send(body)).status).toBe(200);
}

/**
 * Expects that a request without the field is accepted and one with a value of another type is
 * refused.
 */
export async function expectOptional({ send, body, field, wrong }: BodyField): Promise<void> {
  const { [field]: _left, ...without } = body;
  expect((await send(without)).status).toBe(200);
  expectFieldRefused(await send({ ...body, [field]: wrong }), field);
}

export function membersOf(value: object): string[] {
  return Object.keys(value).sort();
}

type Schema = Fields & { properties?: Record<string, Schema>; required?: string[] };
export type OpenApi = {
  openapi: string;
  paths: Record<string, Record<string, OpenApiOperation>>;
  components: { schemas: Record<string, Schema> };
};
export type OpenApiOperation = {
  operationId: string;
  summary: string;
  parameters?: { name: string; in: string; required: boolean }[];
  responses: Record<string, { content: Record<string, { schema: Schema }> }>;
};

export async function readOpenApi(api: TestApi): Promise<OpenApi> {
  return (await api.call('GET', '/openapi.json')).body as OpenApi;
}

/** Returns the values that a field of a schema may have, sorted. */
export function valuesOf(document: OpenApi, name: string, field: string): unknown[] {
  const values = schemaOf(document, name).properties?.[field]?.['enum'];
  return Array.isArray(values) ? values.toSorted() : [];
}

export function schemaOf(document: OpenApi, name: string): Schema {
  const schema = document.components.schemas[name];
  if (!schema) throw new Error(`the OpenAPI document has no schema ${name}`);
  return schema;
}

/**
 * Expects that the schema of a request has these members, of these types, and these required ones.
 */
export function expectDescribed(
  document: OpenApi,
  name: string,
  { required, optional }: { required: Record<string, string>; optional: Record<string, string> },
): void {
  const { properties = {}, required: described = [] } = schemaOf(document, name);
  const types = Object.entries(properties).map(([field, schema]) => [field, schema['type']]);
  expect(Object.fromEntries(types)).toEqual({ ...required, ...optional });
  expect(described.toSorted()).toEqual(membersOf(required));
}
