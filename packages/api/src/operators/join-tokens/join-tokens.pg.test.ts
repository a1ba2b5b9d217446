import { sha256 } from '@gantry/daemon/secrets';
import { insertFleetAuthority } from '@gantry/db/queries/hosts/fleet-authorities';
import { newId } from '@gantry/model/ids';
import { listenTestApi } from '@gantry/testkit/api/listening-api';
import { startTestApi, type TestApi } from '@gantry/testkit/api/test-api';
import { addHost } from '@gantry/testkit/make/hosts';
import { makeUser, type TestUser } from '@gantry/testkit/make/tenants';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { isKey } from '../../auth/keys.ts';

let api: TestApi;
let operator: TestUser;

beforeAll(async () => {
  api = await startTestApi();
  operator = await makeUser(api, 'operator@gantry.test', { operator: true });
});
afterAll(() => api.stop());

const create = (body: unknown = { location: 'eu-north-a' }, headers = {}) =>
  api.call('POST', '/admin/join-tokens', { bearer: operator.token, body, headers });
const list = async (query = '') =>
  (await api.call('GET', `/admin/join-tokens${query}`, { bearer: operator.token })).body;
const revoke = (id: string) =>
  api.call('DELETE', `/admin/join-tokens/${id}`, { bearer: operator.token });
const hoursOf = ({ created_at, expires_at }: Record<string, string>) =>
  (Date.parse(expires_at ?? '') - Date.parse(created_at ?? '')) / 3_600_000;

describe('creating a join token', () => {
  it('shows the token once, and the list does not show it', async () => {
    const { status, body } = await create();
    expect(status).toBe(200);
    expect(body).toEqual({
      id: expect.any(String),
      host_id: '',
      token: expect.any(String),
      location: 'eu-north-a',
      created_at: expect.stringMatching(/Z$/),
      expires_at: expect.stringMatching(/Z$/),
      ca_sha256: '',
      join_line: `curl -fsSL http://api.test/join/${body.token} | sudo sh`,
      join_commands: [
        'sudo apt-get install -y gantry-agent',
        expect.stringContaining(`enroll --server api.test:7443 --token ${body.token}`),
        expect.stringContaining('GANTRY_SCHEDULERS=api.test:7443'),
      ],
    });
    expect(body.token).toMatch(/^gantry_jt_/);
    expect(isKey('join_token', body.token)).toBe(true);
    expect(hoursOf(body)).toBe(24);
    const { token, ca_sha256: _unset, join_line: _, join_commands: __, ...rest } = body;
    const listed = await list();
    expect(listed.items).toContainEqual({ ...rest, used_at: '', examined_at: '', findings: [] });
    expect(JSON.stringify(listed)).not.toContain(token);
  });

  it('shows what the server that holds it has found out about itself, the last time', async () => {
    const { body } = await create({ location: 'eu-north-a' });
    const listening = await listenTestApi(api);
    const send = (token: string, text: string) =>
      fetch(`http://127.0.0.1:${listening.port}/join/${token}/findings`, {
        method: 'POST',
        body: text,
      });
    const shown = async () =>
      (await api.call('GET', `/admin/join-tokens/${body.id}`, { bearer: operator.token })).body;
    await send(body.token, 'fail  iommu: it is off -> turn it on\n');
    expect(await shown()).toMatchObject({
      examined_at: expect.stringMatching(/Z$/),
      findings: [{ severity: 'fail', check: 'iommu', message: 'it is off -> turn it on' }],
    });
    await send(body.token, 'ok    iommu: it is on\n');
    const later = await shown();
    expect(later.findings).toEqual([{ severity: 'ok', check: 'iommu', message: 'it is on' }]);
    const tooLong = await send(body.token, 'ok    a: b\n'.repeat(10_000));
    expect(await tooLong.text()).toContain('too many findings');
    const wrong = await send('gantry_jt_0000000000000000', 'ok    a: b\n');
    expect(await wrong.text()).toContain('no such join token');
    expect(await shown()).toEqual(later);
    await listening.stop();
  });

  it('can name a host that comes back as itself, in the location of that host', async () => {
    const host = await addHost(api.sql, { name: 'comes-back' });
    const { status, body } = await create({ host_id: host.id });
    expect(status).toBe(200);
    expect(body).toMatchObject({ host_id: host.id, location: 'eu-north-a' });
  });

  it('refuses a host that does not exist or is fenced, and both or neither of host and location', async () => {
    const fenced = await addHost(api.sql, { name: 'fenced' });
    await api.sql`update hosts set fenced_at = now() where id = ${fenced.id}`;
    for (const host_id of [newId(), fenced.id]) {
      const { status, body } = await create({ host_id });
      expect([status, body.details[0].field]).toEqual([400, 'host_id']);
    }
    for (const body of [{}, { location: 'eu-north-a', host_id: fenced.id }]) {
      const reply = await create(body);
      expect([reply.status, reply.body.details[0].field]).toEqual([400, 'location']);
    }
  });

  it('stores only a hash of the token', async () => {
    const { body } = await create();
    const [row] = await api.sql`select to_json(t)::text as row, created_by from join_tokens t
      where id = ${body.id}`;
    expect(row?.['row']).toContain(sha256(body.token));
    expect(row?.['row']).not.toContain(body.token);
    expect(row?.['created_by']).toBe(operator.id);
  });

  it('returns the hash of the CA certificate, once there is a CA', async () => {
    expect((await create()).body.ca_sha256).toBe('');
    const fingerprint = 'ab'.repeat(32);
    await insertFleetAuthority(api.sql, {
      certificate_pem: 'the certificate',
      fingerprint,
      sealed_private_key: 'sealed',
    });
    expect((await create()).body.ca_sha256).toBe(fingerprint);
    await api.sql`delete from fleet_authorities`;
  });

  it('returns the same token for the same Idempotency-Key, stored encrypted', async () => {
    const headers = { 'idempotency-key': 'join-once' };
    const first = await create({ location: 'us-east-a' }, headers);
    const second = await create({ location: 'us-east-a' }, headers);
    expect(second.body).toEqual(first.body);
    const kept = await api.sql`select to_json(i)::text as row from idempotency_keys i
      where key = 'join-once'`;
    expect(kept).toHaveLength(1);
    expect(kept[0]?.['row']).not.toContain(first.body.token);
    const made = await api.sql`select from join_tokens where location = 'us-east-a'`;
    expect(made).toHaveLength(1);
  });

  it.each([1, 720])('creates a token that lasts %i hours if requested', async (hours) => {
    const { body } = await create({ location: 'eu-north-a', expires_in_hours: hours });
    expect(hoursOf(body)).toBe(hours);
  });

  it.each([
    ['expires_in_hours', { location: 'eu-north-a', expires_in_hours: 0 }],
    ['expires_in_hours', { location: 'eu-north-a', expires_in_hours: 721 }],
    ['expires_in_hours', { location: 'eu-north-a', expires_in_hours: 1.5 }],
    ['expires_in_hours', { location: 'eu-north-a', expires_in_hours: null }],
    ['location', {}],
    ['location', { location: '' }],
    ['token', { location: 'eu-north-a', token: 'mine' }],
  ])('is refused with an error that names the field: %s in %j', async (field, body) => {
    const reply = await create(body);
    expect(reply.status).toBe(400);
    expect(reply.body.details).toMatchObject([{ field }]);
  });

  it('needs an existing location', async () => {
    const { status, body } = await create({ location: 'mars' });
    expect([status, body.code]).toEqual([422, 'unknown_location']);
  });

  it('creates a token that cannot call the API', async () => {
    const { body } = await create();
    expect((await api.call('GET', '/admin/hosts', { bearer: body.token })).status).toBe(401);
  });
});

describe('the list of join tokens', () => {
  it('is paged, newest first', async () => {
    for (let made = 0; made < 3; made += 1) await create();
    const { items } = await list();
    const times = items.map((item: { created_at: string }) => item.created_at);
    expect(times).toEqual(times.toSorted().toReversed());
    expect(new Set(times).size).toBeGreaterThan(1);
    const first = await list('?limit=2');
    expect(first.items).toEqual(items.slice(0, 2));
    const second = await list(`?limit=1000&page_token=${first.next_page_token}`);
    expect(second).toEqual({ items: items.slice(2), next_page_token: '' });
  });
});

describe('revoking a join token', () => {
  it('removes an unused token, once', async () => {
    const { body } = await create();
    const { id, location, host_id, created_at, expires_at } = body;
    const rest = { id, location, host_id, created_at, expires_at };
    const revoked = await revoke(body.id);
    const untouched = { used_at: '', examined_at: '', findings: [] };
    expect([revoked.status, revoked.body]).toEqual([200, { ...rest, ...untouched }]);
    const gone = await api.sql`select from join_tokens where hash = ${sha256(body.token)}`;
    expect(gone).toHaveLength(0);
    expect((await revoke(body.id)).status).toBe(404);
    expect((await revoke('seven')).body.details).toMatchObject([{ field: 'join_token_id' }]);
  });

  it('is refused for a used token, which stays in the list', async () => {
    const { body } = await create();
    const usedAt = '2030-01-31T12:00:00.000Z';
    await api.sql`update join_tokens set used_at = ${usedAt} where id = ${body.id}`;
    const refused = await revoke(body.id);
    expect([refused.status, refused.body.code]).toEqual([409, 'conflict']);
    const { items } = await list();
    expect(items).toContainEqual(expect.objectContaining({ id: body.id, used_at: usedAt }));
  });

  it('is refused if a host uses the token at the same time', async () => {
    const { body } = await create();
    const { revoking } = await api.sql.begin(async (tx) => {
      await tx`update join_tokens set used_at = now() where id = ${body.id}`;
      const started = revoke(body.id);
      await vi.waitFor(
        async () => {
          const waiting = await api.sql`select from pg_stat_activity
            where datname = current_database() and wait_event_type = 'Lock'`;
          expect(waiting).toHaveLength(1);
        },
        { timeout: 30_000 },
      );
      return { revoking: started };
    });
    expect((await revoking).body.code).toBe('conflict');
  });
});
