import { hashPassword } from '@gantry/api/auth/passwords';
import { createRateLimiter } from '@gantry/api/base/rate-limit';
import { createLog } from '@gantry/daemon/log';
import { connect } from '@gantry/db/connect';
import { startTestApi, type TestApi } from '@gantry/testkit/api/test-api';
import { diskBody, newName, vmBody } from '@gantry/testkit/make/request-bodies';
import { makeTenant } from '@gantry/testkit/make/tenants';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  attachDisk,
  clientOf,
  expectFieldRefused,
  expectRefusal,
  type Fields,
  makeDisk,
  makeVm,
  membersOf,
  NOBODY,
  operationOf,
  readOpenApi,
  startWorld,
  UUID,
  valuesOf,
  type World,
} from './support.ts';

let world: World;
const lines: Fields[] = [];

beforeAll(async () => {
  const destination = { write: (line: string) => void lines.push(JSON.parse(line)) };
  world = await startWorld({ log: createLog({ process: 'api', destination }) });
});
afterAll(() => world.api.stop());

const create = (changes: Fields = {}, headers = {}) =>
  world.post(`${world.P}/vms`, vmBody(changes), headers);

/** Runs with another api, which is always stopped afterwards. */
async function withApi(
  overrides: Parameters<typeof startTestApi>[0],
  run: (api: TestApi) => Promise<void>,
): Promise<void> {
  const api = await startTestApi(overrides);
  try {
    await run(api);
  } finally {
    await api.stop();
  }
}

describe('docs/contract/errors.md#errors: the body', () => {
  it('an error has code, message, error_id and details; error_id is the x-request-id of the log line', async () => {
    const replies = [
      await create({ name: 'NOT A NAME' }),
      await world.get(`${world.P}/vms/${NOBODY}`),
      await world.api.call('GET', '/projects'),
      await world.api.call('POST', '/auth/token', { body: {} }),
    ];
    for (const { body, headers } of replies) {
      expect(membersOf(body).filter((member) => member !== 'details')).toEqual([
        ...['code', 'error_id', 'message'],
      ]);
      expect(body.error_id).toMatch(UUID);
      expect(headers.get('x-request-id')).toBe(body.error_id);
      expect(headers.get('content-type')).toMatch(/^application\/json/);
      expect(lines.filter(({ request_id }) => request_id === body.error_id)).toHaveLength(1);
    }
    const nowhere = await world.get('/no-such-path');
    expectRefusal(nowhere, 404, 'not_found');
    expect(nowhere.headers.get('x-request-id')).toBe(nowhere.body.error_id);
    expect(lines.filter(({ request_id }) => request_id === nowhere.body.error_id)).toHaveLength(1);
  });
  it('the message of an error says what was wrong and what to do', async () => {
    expect((await create({ type: 'a40.3x' })).body.message).toMatch(/"a40\.3x".*GET/);
    expect((await create({ location: 'nowhere' })).body.message).toMatch(/"nowhere".*GET/);
  });
  it('the API has the documented codes and no others', async () => {
    expect(valuesOf(await readOpenApi(world.api), 'Error', 'code')).toEqual(
      [
        ...['bad_request', 'bad_credential', 'payment_required', 'forbidden', 'not_found'],
        ...['conflict', 'operation_in_progress', 'idempotency_key_reused', 'disk_attached'],
        ...['name_taken', 'request_too_large', 'unsupported_media_type', 'quota_exceeded'],
        ...['unknown_type', 'unknown_location', 'unknown_image', 'type_not_in_location'],
        ...['too_many_requests', 'internal_error', 'unavailable', 'totp_required'],
        ...['precondition_failed', 'out_of_stock'],
      ].sort(),
    );
  });
});

describe('docs/contract/errors.md#errors: status and code', () => {
  const P = () => world.P;

  it('400 bad_request names each field that is not valid, and why', async () => {
    const body = await create({ name: 'NOT A NAME', type: 7 });
    expectFieldRefused(body, 'name');
    expectFieldRefused(body, 'type');
    expectFieldRefused(await create({ colour: 'red' }), 'colour');
    expectFieldRefused(await world.get(`${world.P}/vms?limit=0`), 'limit');
    expectFieldRefused(await world.get(`${world.P}/vms?colour=red`), 'colour');
    expectFieldRefused(await world.get(`${world.P}/vms/not-a-uuid`), 'vm_id');
    expectFieldRefused(await world.get('/projects/not-a-uuid/vms'), 'project_id');
    expectRefusal(await world.post(`${world.P}/vms`, '{"name":'), 400, 'bad_request');
    expectRefusal(await world.post(`${world.P}/vms`, '[]'), 400, 'bad_request');
  });

  it('401 bad_credential is the reply to every wrong bearer, e-mail address or password', async () => {
    const { api, P, tenant } = world;
    expectRefusal(await api.call('GET', `${P}/vms`), 401, 'bad_credential');
    const wrong = `${tenant.accessKey.slice(0, -1)}${tenant.accessKey.at(-1) === 'A' ? 'B' : 'A'}`;
    for (const bearer of [wrong, 'nonsense', `${tenant.owner.token}x`]) {
      expectRefusal(await clientOf(api, bearer).get(`${P}/vms`), 401, 'bad_credential');
    }
    const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
    const key = { name: newName(), expires_at: expiresAt };
    const expiring = (await world.post(`${P}/access-keys`, key)).body;
    await api.sql`update access_keys set expires_at = now() - interval '1 s' where id = ${expiring.id}`;
    const revoked = (await world.post(`${P}/access-keys`, { name: newName() })).body;
    expect((await clientOf(api, revoked.access_key).get(`${P}/vms`)).status).toBe(200);
    expect((await world.delete(`${P}/access-keys/${revoked.id}`)).status).toBe(200);
    for (const { access_key } of [expiring, revoked]) {
      expectRefusal(await clientOf(api, access_key).get(`${P}/vms`), 401, 'bad_credential');
    }
    const password = 'long enough a password';
    const user = { email: 'grace@acme.test', password };
    expect((await world.operator.post('/admin/users', user)).status).toBe(200);
    const logIn = (body: Fields) =>
      api.call('POST', '/auth/token', { body: { grant_type: 'password', ...body } });
    expect((await logIn(user)).status).toBe(200);
    const [known, unknown] = [
      await logIn({ ...user, password: 'another' }),
      await logIn({ ...user, email: 'nobody@acme.test' }),
    ];
    expectRefusal(known, 401, 'bad_credential');
    expect(unknown.status).toBe(401);
    expect({ ...unknown.body, error_id: '' }).toEqual({ ...known.body, error_id: '' });
  });

  it('402 payment_required names the billing endpoint; tenancy endpoints stay open', async () => {
    const { api } = world;
    const tenant = await makeTenant(api, 'unpaid', { paid: false });
    const [P, O] = [`/projects/${tenant.projectId}`, `/organizations/${tenant.organizationId}`];
    for (const bearer of [tenant.accessKey, tenant.owner.token]) {
      const { get, post } = clientOf(api, bearer);
      const closed = [
        ...[await get('/locations'), await get(`${P}/vms`), await get(`${P}/specs`)],
        ...[await get(`${P}/images`), await get(`${P}/availabilities`), await get(`${P}/disks`)],
        ...[await get(`${P}/vpc/networks`), await get(`${P}/quotas`), await get(`${O}/usage`)],
        ...[await post(`${P}/vms`, vmBody()), await post(`${P}/disks`, diskBody())],
        ...[await get(`${P}/access-keys`), await get(`${O}/audit-logs`)],
      ];
      for (const reply of closed) {
        expectRefusal(reply, 402, 'payment_required');
        expect(reply.body.message).toContain('/billing');
      }
      expect(closed[1]?.body.message).toContain(`/v0.1${O}/billing`);
      for (const path of ['', '/organizations', '/projects', `${P}/prices`]) {
        expect([path, (await get(path)).status]).toEqual([path, 200]);
      }
    }
    const owner = clientOf(api, tenant.owner.token);
    expect((await owner.get(`${O}/billing`)).status).toBe(200);
    const project = { name: newName(), organization_id: tenant.organizationId };
    expect((await owner.post('/projects', project)).status).toBe(200);
    expect((await owner.patch(O, { name: 'Still unpaid' })).status).toBe(200);
    const password = 'long enough a password';
    await api.sql`update users set password_hash = ${await hashPassword(password)} where id = ${tenant.owner.id}`;
    const login = { grant_type: 'password', email: tenant.owner.email, password };
    expect((await api.call('POST', '/auth/token', { body: login })).status).toBe(200);
  });

  it('403 forbidden is the reply for a resource that the caller may see and not change', async () => {
    const { api, tenant, P } = world;
    for (const bearer of [tenant.readOnlyKey, tenant.readOnly.token]) {
      const { get, post } = clientOf(api, bearer);
      expect((await get(`${P}/vms`)).status).toBe(200);
      expectRefusal(await post(`${P}/vms`, vmBody()), 403, 'forbidden');
    }
    expectRefusal(await world.owner.get('/admin/users'), 403, 'forbidden');
  });

  it('404 not_found is the same for a missing resource and for a foreign one', async () => {
    const other = await makeTenant(world.api, 'other');
    const theirs = clientOf(world.api, other.accessKey);
    const strange = `/projects/${other.projectId}`;
    const made = operationOf(await theirs.post(`${strange}/vms`, vmBody()));
    const anonymous = ({ status, body }: { status: number; body: Fields }) => ({
      ...body,
      status,
      error_id: '',
    });
    const pairs = [
      [`${P()}/vms/${made.metadata.id}`, `${P()}/vms/${NOBODY}`],
      [`${P()}/vms/operations/${made.operation_id}`, `${P()}/vms/operations/${NOBODY}`],
      [`${strange}/vms`, `/projects/${NOBODY}/vms`],
      [`${strange}/vms/${made.metadata.id}`, `/projects/${NOBODY}/vms/${made.metadata.id}`],
      [`/organizations/${other.organizationId}/usage`, `/organizations/${NOBODY}/usage`],
    ] as const;
    for (const [foreign, missing] of pairs) {
      for (const { get } of [world, world.owner]) {
        const reply = await get(foreign);
        expectRefusal(reply, 404, 'not_found');
        expect(anonymous(reply)).toEqual(anonymous(await get(missing)));
      }
    }
  });
  it('409 has the codes conflict, operation_in_progress, disk_attached and others', async () => {
    const vmId = await makeVm(world);
    const start = await world.patch(`${P()}/vms/${vmId}`, { action: 'START' });
    expectRefusal(start, 409, 'conflict');
    operationOf(await world.patch(`${P()}/vms/${vmId}`, { action: 'STOP' }));
    const again = await world.patch(`${P()}/vms/${vmId}`, { action: 'STOP' });
    expectRefusal(again, 409, 'operation_in_progress');
    const key = { 'idempotency-key': 'one' };
    operationOf(await create({}, key));
    expectRefusal(await create({}, key), 409, 'idempotency_key_reused');
    const [writer, diskId] = [await makeVm(world), await makeDisk(world)];
    await attachDisk(world, { vmId: writer, diskId });
    expectRefusal(await world.delete(`${P()}/disks/${diskId}`), 409, 'disk_attached');
    const name = newName();
    operationOf(await create({ name }));
    expectRefusal(await create({ name }), 409, 'name_taken');
  });

  it('413 refuses bodies over 256 KiB, and 415 refuses bodies that are not JSON', async () => {
    const padded = (bytes: number) => {
      const text = JSON.stringify(vmBody());
      return text + ' '.repeat(bytes - text.length);
    };
    const limit = 256 * 1024;
    operationOf(await world.post(`${P()}/vms`, padded(limit)));
    const large = await world.post(`${P()}/vms`, padded(limit + 1));
    expectRefusal(large, 413, 'request_too_large');
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/xml']) {
      const reply = await world.post(`${P()}/vms`, vmBody(), { 'content-type': type });
      expectRefusal(reply, 415, 'unsupported_media_type');
    }
    const charset = { 'content-type': 'application/json; charset=utf-8' };
    operationOf(await world.post(`${P()}/vms`, vmBody(), charset));
  });

  it('422 has a code for each reason why a valid request cannot be fulfilled', async () => {
    expectRefusal(await create({ type: 'a40.3x' }), 422, 'unknown_type');
    expectRefusal(await create({ location: 'nowhere' }), 422, 'unknown_location');
    expectRefusal(await create({ image: 'no-such-image' }), 422, 'unknown_image');
    const elsewhere = { locations: ['us-east-a'] };
    expect((await world.operator.patch('/admin/vm-types/a100.8x', elsewhere)).status).toBe(200);
    expectRefusal(await create({ type: 'a100.8x' }), 422, 'type_not_in_location');
    const quotas = `/admin${P()}/quotas`;
    const before = (await world.operator.get(quotas)).body.quotas;
    expect((await world.operator.put(quotas, { vms: 0 })).status).toBe(200);
    expectRefusal(await create(), 422, 'quota_exceeded');
    const max = before.find(({ type }: Fields) => type === 'vms').max;
    expect((await world.operator.put(quotas, { vms: max })).status).toBe(200);
    expect((await create()).status).toBe(200);
  });

  it('429 too_many_requests has the header retry-after', async () => {
    let nowMs = 0;
    const rateLimiter = createRateLimiter({ perSecond: 1, burst: 2, now: () => nowMs });
    await withApi({ rateLimiter }, async (api) => {
      const tenant = await makeTenant(api, 'busy');
      const { get } = clientOf(api, tenant.accessKey);
      expect([(await get('')).status, (await get('')).status]).toEqual([200, 200]);
      const refused = await get('');
      expectRefusal(refused, 429, 'too_many_requests');
      expect(Number(refused.headers.get('retry-after'))).toBe(1);
      nowMs += 1_000;
      expect((await get('')).status).toBe(200);
    });
  });

  it('500 and 503 leave nothing half done, and the request can be repeated', async () => {
    const { sql } = world.api;
    const broken = vmBody();
    const send = () => world.post(`${P()}/vms`, broken, { 'idempotency-key': 'repeated' });
    await sql`alter table audit_logs add constraint broken check (action <> 'vms.create') not valid`;
    const failed = await send();
    await sql`alter table audit_logs drop constraint broken`;
    expectRefusal(failed, 500, 'internal_error');
    expect(JSON.stringify(failed.body)).not.toMatch(/audit_logs|broken|constraint/);
    const named = async () =>
      (await world.get(`${P()}/vms?names=${broken['name']}`)).body.items.length;
    expect(await named()).toBe(0);
    operationOf(await send());
    expect(await named()).toBe(1);

    // Nothing listens on this port.
    const unreachable = connect({ url: 'postgres://nobody@127.0.0.1:1/none', name: 'none' });
    await withApi({ sql: unreachable }, async (api) => {
      const tenant = await makeTenant(api, 'cut-off');
      const { get } = clientOf(api, tenant.accessKey);
      expectRefusal(await get(`/projects/${tenant.projectId}/vms`), 503, 'unavailable');
    });
    await unreachable.end();
  });
});
