import { startTestApi, type TestApi } from '@gantry/testkit/api/test-api';
import { vmBody } from '@gantry/testkit/make/request-bodies';
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

const OWN = '/auth/ssh-keys';
const store = (bearer: string, name: string, public_key = SSH_PUBLIC_KEY, path = OWN) =>
  api.call('POST', path, { bearer, body: { name, public_key } });
/** Returns the keys of a new VM that names one. */
async function keysOfVm(bearer: string, name: string) {
  const { body } = await api.call('POST', `/projects/${acme.projectId}/vms`, {
    ...{ bearer, body: vmBody({ ssh_keys: [name] }) },
  });
  return body.operation?.metadata.request.ssh_keys ?? body.details[0].field;
}

describe("a user's own SSH key", () => {
  it('is created, read, listed and deleted, with a name that the user has once', async () => {
    const { token } = acme.owner;
    const { status, body } = await store(token, 'laptop');
    expect([status, body.name, body.public_key]).toEqual([200, 'laptop', SSH_PUBLIC_KEY]);
    expect((await store(token, 'laptop')).body.code).toBe('name_taken');
    expect((await api.call('GET', `${OWN}/${body.id}`, { bearer: token })).body).toEqual(body);
    expect((await api.call('GET', OWN, { bearer: token })).body.items).toEqual([body]);
    const remove = () => api.call('DELETE', `${OWN}/${body.id}`, { bearer: token });
    expect((await remove()).body).toEqual(body);
    expect((await remove()).status).toBe(404);
  });

  it('is invisible to other users, and an access key has none', async () => {
    const { body } = await store(acme.owner.token, 'private');
    for (const bearer of [acme.member.token, other.owner.token]) {
      expect((await api.call('GET', `${OWN}/${body.id}`, { bearer })).status).toBe(404);
      expect((await api.call('DELETE', `${OWN}/${body.id}`, { bearer })).status).toBe(404);
      expect((await api.call('GET', OWN, { bearer })).body.items).toEqual([]);
    }
    expect((await store(acme.accessKey, 'mine')).status).toBe(403);
    expect(await keysOfVm(acme.member.token, 'private')).toBe('ssh_keys.0');
    expect(await keysOfVm(acme.accessKey, 'private')).toBe('ssh_keys.0');
  });

  it('opens the VMs that the user creates with its name, before a key of the project', async () => {
    await store(acme.member.token, 'desk', `${SSH_PUBLIC_KEY} own`);
    expect(await keysOfVm(acme.member.token, 'desk')).toEqual([`${SSH_PUBLIC_KEY} own`]);
    const path = `/projects/${acme.projectId}/ssh-keys`;
    await store(acme.accessKey, 'desk', `${SSH_PUBLIC_KEY} project`, path);
    expect(await keysOfVm(acme.member.token, 'desk')).toEqual([`${SSH_PUBLIC_KEY} own`]);
    expect(await keysOfVm(acme.owner.token, 'desk')).toEqual([`${SSH_PUBLIC_KEY} project`]);
  });

  it('is refused after 100', async () => {
    await api.sql`insert into user_ssh_keys (id, user_id, name, public_key)
      select gen_random_uuid(), ${other.owner.id}, 'key-' || n, 'x' from generate_series(1, 99) n`;
    expect((await store(other.owner.token, 'last')).status).toBe(200);
    expect((await store(other.owner.token, 'more')).body.code).toBe('conflict');
  });
});
