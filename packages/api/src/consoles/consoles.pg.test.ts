import { connect } from 'node:net';
import { newId } from '@gantry/model/ids';
import { type ListeningApi, listenTestApi } from '@gantry/testkit/api/listening-api';
import { startTestApi, type TestApi } from '@gantry/testkit/api/test-api';
import { finishVm } from '@gantry/testkit/make/finished';
import {
  makeAccessKey,
  makeTenant,
  SSH_PUBLIC_KEY,
  type TestTenant,
} from '@gantry/testkit/make/tenants';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hashPassword } from '../auth/passwords.ts';

const PASSWORD = 'correct horse battery';

/** Tests what happens before a console opens; test/scenarios/console.pg.test.ts tests the rest. */
let api: TestApi;
let listening: ListeningApi;
let acme: TestTenant;
let globex: TestTenant;
let vmId: string;
let stoppedId: string;

beforeAll(async () => {
  api = await startTestApi();
  listening = await listenTestApi(api);
  acme = await makeTenant(api, 'acme');
  globex = await makeTenant(api, 'globex');
  vmId = await createVm('running', 'running');
  stoppedId = await createVm('stopped', 'stopped');
});
afterAll(async () => {
  await listening.stop();
  await api.stop();
});

async function createVm(name: string, state: 'running' | 'stopped'): Promise<string> {
  const { body } = await api.call('POST', `/projects/${acme.projectId}/vms`, {
    bearer: acme.accessKey,
    body: {
      name,
      type: 'a40.1x',
      location: 'eu-north-a',
      image: 'debian-12',
      ssh_public_key: SSH_PUBLIC_KEY,
    },
  });
  await finishVm(api.sql, body.operation.metadata.id, state);
  return body.operation.metadata.id;
}

const path = (id = vmId, tenant = acme) => `/projects/${tenant.projectId}/vms/${id}/console`;
const ticketFor = async (id = vmId, bearer = acme.accessKey) =>
  (await api.call('POST', path(id), { bearer })).body.ticket as string;
/** Returns how an opening is refused. No host is connected, so the best possible result is 503. */
const refusal = async (at: string, bearer?: string) => {
  const { status, body } = await listening.open(at, bearer === undefined ? {} : { bearer }).refused;
  return [status, body.code];
};
const PAST_ALL_CHECKS = [503, 'unavailable'];

describe('opening a console', () => {
  it('needs the role member and a running VM; strangers get not_found', async () => {
    expect(await refusal(path(), acme.accessKey)).toEqual(PAST_ALL_CHECKS);
    expect(await refusal(path(), acme.member.token)).toEqual(PAST_ALL_CHECKS);
    expect(await refusal(path(), acme.readOnlyKey)).toEqual([403, 'forbidden']);
    expect(await refusal(path())).toEqual([401, 'bad_credential']);
    expect(await refusal(path(), globex.accessKey)).toEqual([404, 'not_found']);
    expect(await refusal(path(vmId, globex), globex.accessKey)).toEqual([404, 'not_found']);
    expect(await refusal(path(newId()), acme.accessKey)).toEqual([404, 'not_found']);
    expect(await refusal(path(stoppedId), acme.accessKey)).toEqual([409, 'conflict']);
    expect(await refusal('/nothing', acme.accessKey)).toEqual([404, 'not_found']);
    expect(await refusal(`${path()}?tickets=x`, acme.accessKey)).toEqual([400, 'bad_request']);
  });

  it('refuses a GET that is not a WebSocket request', async () => {
    const { status, body } = await api.call('GET', path(), { bearer: acme.accessKey });
    expect([status, body.details]).toEqual([
      400,
      [{ field: 'Upgrade', reason: 'must be "websocket"' }],
    ]);
  });

  it('is in the audit log if it is refused', async () => {
    await refusal(path(), acme.readOnlyKey);
    await expect
      .poll(
        () => api.sql`select from audit_logs where action = 'consoles.open' and status = 403
        and resource_id = ${vmId}`,
      )
      .not.toHaveLength(0);
  });
});

describe('a ticket', () => {
  it('is created with its URL and expiry for a caller that may open the console', async () => {
    const { status, body } = await api.call('POST', path(), { bearer: acme.accessKey });
    expect(status).toBe(200);
    expect(body).toEqual({
      ticket: expect.stringMatching(/^gantry_ct_/),
      url: `ws://api.test/v0.1${path()}?ticket=${body.ticket}`,
      expires_at: expect.any(String),
    });
    const lifetimeMs = Date.parse(body.expires_at) - Date.now();
    expect(lifetimeMs).toBeGreaterThan(0);
    expect(lifetimeMs).toBeLessThanOrEqual(30_000);
    for (const [at, bearer, expected] of [
      [path(), acme.readOnlyKey, 403],
      [path(), globex.accessKey, 404],
      [path(stoppedId), acme.accessKey, 409],
    ] as const)
      expect((await api.call('POST', at, { bearer })).status).toBe(expected);
  });

  it('works once, even if the request fails', async () => {
    const ticket = await ticketFor();
    expect(await refusal(`${path()}?ticket=${ticket}`)).toEqual(PAST_ALL_CHECKS);
    expect(await refusal(`${path()}?ticket=${ticket}`)).toEqual([401, 'bad_credential']);
    const user = await ticketFor(vmId, acme.member.token);
    expect(await refusal(`${path()}?ticket=${user}`)).toEqual(PAST_ALL_CHECKS);
  });

  it('opens one of two concurrent consoles', async () => {
    const ticket = await ticketFor();
    const both = await Promise.all([1, 2].map(() => refusal(`${path()}?ticket=${ticket}`)));
    expect(both.map(([status]) => status).sort()).toEqual([401, 503]);
  });

  it('works only for its VM, until it expires, and on no other route', async () => {
    const other = await createVm(`other-${newId().slice(-8)}`, 'running');
    expect(await refusal(`${path(other)}?ticket=${await ticketFor()}`)).toEqual([
      ...[401, 'bad_credential'],
    ]);
    const late = await ticketFor();
    await api.sql`update console_tickets set expires_at = now() - interval '1 millisecond'`;
    expect(await refusal(`${path()}?ticket=${late}`)).toEqual([401, 'bad_credential']);
    expect(await refusal(`${path()}?ticket=nonsense`)).toEqual([401, 'bad_credential']);
    const serialLog = `/projects/${acme.projectId}/vms/${vmId}/serial-log`;
    expect((await api.call('GET', `${serialLog}?ticket=${await ticketFor()}`)).status).toBe(401);
  });

  it('has the rights that its creator has when it is used', async () => {
    const key = await makeAccessKey(api, acme.projectId, 'member');
    const ticket = await ticketFor(vmId, key);
    await api.sql`delete from access_keys where id = (select actor_id from console_tickets
      where expires_at = (select max(expires_at) from console_tickets))`;
    expect(await refusal(`${path()}?ticket=${ticket}`)).toEqual([401, 'bad_credential']);
    const demoted = await ticketFor(vmId, acme.member.token);
    await api.sql`update members set role = 'read-only' where user_id = ${acme.member.id}`;
    expect(await refusal(`${path()}?ticket=${demoted}`)).toEqual([403, 'forbidden']);
    await api.sql`update members set role = 'member' where user_id = ${acme.member.id}`;
  });

  it('ends with the login of the user who created it, and when all tokens of the user end', async () => {
    const { id } = acme.member;
    await api.sql`update users set password_hash = ${await hashPassword(PASSWORD)} where id = ${id}`;
    const [user] = await api.sql<{ email: string }[]>`select email from users where id = ${id}`;
    const credential = { grant_type: 'password', email: user?.email, password: PASSWORD };
    const logIn = async () => (await api.call('POST', '/auth/token', { body: credential })).body;
    const { access_token: ended } = await logIn();
    const { access_token: other } = await logIn();
    const logins = await api.call('GET', '/auth/logins', { bearer: ended });
    const own = logins.body.items.find(({ current }: { current: boolean }) => current);
    const [first, second] = [await ticketFor(vmId, ended), await ticketFor(vmId, other)];
    await api.call('DELETE', `/auth/logins/${own.id}`, { bearer: ended });
    expect(await refusal(`${path()}?ticket=${first}`)).toEqual([401, 'bad_credential']);
    expect(await refusal(`${path()}?ticket=${second}`)).toEqual(PAST_ALL_CHECKS);
    const third = await ticketFor(vmId, other);
    await api.sql`update users set token_generation = token_generation + 1 where id = ${id}`;
    expect(await refusal(`${path()}?ticket=${third}`)).toEqual([401, 'bad_credential']);
  });

  it('is stored as a hash', async () => {
    const ticket = await ticketFor();
    const rows = JSON.stringify(await api.sql`select * from console_tickets`);
    expect(rows).not.toContain(ticket.slice(10));
  });
});

it('a request that offers another protocol is served as plain HTTP', async () => {
  const socket = connect(listening.port, '127.0.0.1');
  let text = '';
  socket.on('data', (bytes) => {
    text += bytes;
  });
  const request = (line: string, { body = '', upgrade = 'h2c' } = {}) =>
    socket.write(
      `${line} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${acme.accessKey}\r\n` +
        `Connection: Upgrade\r\nUpgrade: ${upgrade}\r\nContent-Type: application/json\r\n` +
        `Content-Length: ${body.length}\r\n\r\n${body}`,
    );
  request('GET /v0.1');
  await expect.poll(() => text).toContain('HTTP/1.1 200');
  for (const upgrade of ['h2c', 'websocket']) {
    text = '';
    const body = JSON.stringify({ name: `by-${upgrade}` });
    request(`POST /v0.1/projects/${acme.projectId}/access-keys`, { body, upgrade });
    await expect.poll(() => text).toMatch(/HTTP\/1.1 200[\s\S]*by-/);
  }
  socket.destroy();
});
