import { startTestApi, type TestApi } from '@gantry/testkit/api/test-api';
import { makeTenant, SSH_PUBLIC_KEY, type TestTenant } from '@gantry/testkit/make/tenants';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let api: TestApi;
let acme: TestTenant;
let other: TestTenant;

beforeAll(async () => {
  api = await startTestApi();
  [acme, other] = await Promise.all([makeTenant(api, 'acme'), makeTenant(api, 'other')]);
});
afterAll(() => api.stop());

const pathOf = (owner: TestTenant) => `/projects/${owner.projectId}/ssh-keys`;
type Creation = { owner?: TestTenant; public_key?: string; bearer?: string };
const create = (
  name: string,
  { owner = acme, public_key = SSH_PUBLIC_KEY, bearer }: Creation = {},
) =>
  api.call('POST', pathOf(owner), {
    bearer: bearer ?? owner.accessKey,
    body: { name, public_key },
  });
const read = (path: string, bearer = acme.accessKey) =>
  api.call('GET', `${pathOf(acme)}${path}`, { bearer });
const remove = (id: string, bearer = acme.accessKey) =>
  api.call('DELETE', `${pathOf(acme)}/${id}`, { bearer });

describe('an SSH key', () => {
  it('is created, read, listed and deleted', async () => {
    const { status, body } = await create('laptop', { public_key: ` ${SSH_PUBLIC_KEY}\n` });
    expect(status).toBe(200);
    expect(body).toEqual({
      id: expect.any(String),
      name: 'laptop',
      public_key: SSH_PUBLIC_KEY,
      fingerprint: expect.stringMatching(/^SHA256:[A-Za-z0-9+/]{43}$/),
      tags: {},
      created_at: expect.stringMatching(/Z$/),
    });
    expect((await read(`/${body.id}`)).body).toEqual(body);
    expect((await read('')).body.items).toContainEqual(body);
    expect((await remove(body.id)).body).toEqual(body);
    expect((await read(`/${body.id}`)).status).toBe(404);
    expect((await remove(body.id)).status).toBe(404);
  });

  it('has a name that no other key of the project has', async () => {
    await create('twice');
    expect((await create('twice')).body.code).toBe('name_taken');
    expect((await create('twice', { owner: other })).status).toBe(200);
  });

  it('is listed page by page, oldest first', async () => {
    for (const name of ['page-1', 'page-2', 'page-3']) await create(name, { owner: other });
    const names: string[] = [];
    let token = '';
    do {
      const query = `?limit=2${token && `&page_token=${token}`}`;
      const { body } = await api.call('GET', `${pathOf(other)}${query}`, {
        bearer: other.readOnlyKey,
      });
      names.push(...body.items.map(({ name }: { name: string }) => name));
      token = body.next_page_token;
    } while (token !== '');
    expect(names.filter((name) => name.startsWith('page-'))).toEqual([
      'page-1',
      'page-2',
      'page-3',
    ]);
    expect(new Set(names).size).toBe(names.length);
  });

  it('is for members of its project to create and delete', async () => {
    const { body } = await create('kept');
    expect((await create('no', { bearer: acme.readOnlyKey })).status).toBe(403);
    expect((await remove(body.id, acme.readOnlyKey)).status).toBe(403);
    expect((await read(`/${body.id}`, acme.readOnlyKey)).status).toBe(200);
    for (const reply of [
      await remove(body.id, other.accessKey),
      await read(`/${body.id}`, other.accessKey),
    ]) {
      expect(reply.status).toBe(404);
    }
    const foreign = await create('foreign', { owner: other });
    for (const reply of [await read(`/${foreign.body.id}`), await remove(foreign.body.id)]) {
      expect(reply.status).toBe(404);
    }
  });

  it('is recorded in the audit log when it is created and deleted', async () => {
    const { body } = await create('audited');
    await remove(body.id);
    const log = `/organizations/${acme.organizationId}/audit-logs`;
    const { body: lines } = await api.call('GET', `${log}?limit=2`, { bearer: acme.owner.token });
    const shown = lines.items.map(({ action, resource_id }: Record<string, string>) => [
      action,
      resource_id,
    ]);
    expect(shown).toEqual([
      ['ssh-keys.delete', body.id],
      ['ssh-keys.create', body.id],
    ]);
  });

  it.each([
    ['name', { name: 'Not A Name' }],
    ['public_key', { public_key: 'nope' }],
    ['public_key', { public_key: `${SSH_PUBLIC_KEY}\n${SSH_PUBLIC_KEY}` }],
    ['fingerprint', { fingerprint: 'SHA256:mine' }],
  ])('is refused with an error that names the field %s', async (field, change) => {
    const body = { name: 'x', public_key: SSH_PUBLIC_KEY, ...change };
    const reply = await api.call('POST', pathOf(acme), { bearer: acme.accessKey, body });
    expect([reply.status, reply.body.details?.[0].field]).toEqual([400, field]);
  });

  it('is one of at most 100 of its project, also if two are created at once', async () => {
    const owner = await makeTenant(api, 'collector');
    await api.sql`insert into ssh_keys (id, project_id, name, public_key)
      select gen_random_uuid(), ${owner.projectId}, 'key-' || n, ${SSH_PUBLIC_KEY} from generate_series(1, 99) n`;
    const replies = await Promise.all(['a', 'b'].map((name) => create(name, { owner })));
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 409]);
  });
});
