import { startTestApi, type TestApi } from '@gantry/testkit/api/test-api';
import {
  makeTenant,
  makeUser,
  SSH_PUBLIC_KEY,
  type TestTenant,
  type TestUser,
} from '@gantry/testkit/make/tenants';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';

let api: TestApi;
let acme: TestTenant;
let other: TestTenant;
let operator: TestUser;

beforeAll(async () => {
  api = await startTestApi();
  acme = await makeTenant(api, 'acme');
  other = await makeTenant(api, 'other');
  operator = await makeUser(api, 'operator@gantry.test', { operator: true });
});
afterAll(() => api.stop());

const createVm = (tenant: TestTenant, name: string, type = 'a40.1x') =>
  api.call('POST', `/projects/${tenant.projectId}/vms`, {
    bearer: tenant.accessKey,
    body: {
      name,
      type,
      location: 'eu-north-a',
      image: 'debian-12',
      ssh_public_key: SSH_PUBLIC_KEY,
    },
  });
const logs = async (tenant: TestTenant, bearer: string, query = '') =>
  (await api.call('GET', `/organizations/${tenant.organizationId}/audit-logs${query}`, { bearer }))
    .body;

describe('the audit log', () => {
  it('records accepted and refused writes, and nothing of other tenants', async () => {
    const created = await createVm(acme, 'made');
    const refused = await createVm(acme, 'not-made', 'no-such-type');
    await createVm(other, 'elsewhere');
    const line = {
      organization_id: acme.organizationId,
      project_id: acme.projectId,
      actor_type: 'access_key',
      action: 'vms.create',
      resource_type: 'vms',
    };
    // Refused writes reach the audit log a second later, in a batch.
    const items = await vi.waitFor(
      async () => {
        const page = await logs(acme, acme.owner.token, '?action=vms.create');
        expect(page.items).toHaveLength(2);
        return page.items;
      },
      { timeout: 30_000 },
    );
    expect(items).toContainEqual({
      ...line,
      id: expect.any(String),
      at: expect.stringMatching(/Z$/),
      actor_id: expect.stringMatching(/-/),
      actor: expect.stringMatching(/^key-/),
      resource_id: created.body.operation.metadata.id,
      source_ip: '',
      user_agent: '',
      attempts: 1,
      request_id: created.headers.get('x-request-id'),
      status: 200,
    });
    expect(items).toContainEqual(
      expect.objectContaining({ ...line, request_id: refused.body.error_id, status: 422 }),
    );
    const everything = await logs(acme, acme.owner.token, '?limit=1000');
    for (const item of everything.items) expect(item.organization_id).toBe(acme.organizationId);
  });

  it('is listed newest first in pages, each line once', async () => {
    for (const name of ['one', 'two', 'three']) await createVm(other, name);
    const all = await logs(other, other.owner.token);
    const seen: string[] = [];
    let token = '';
    do {
      const page = await logs(
        other,
        other.owner.token,
        `?limit=2${token && `&page_token=${token}`}`,
      );
      expect(page.items.length).toBeLessThanOrEqual(2);
      seen.push(...page.items.map(({ id }: { id: string }) => id));
      token = page.next_page_token;
    } while (token);
    expect(seen).toEqual(all.items.map(({ id }: { id: string }) => id));
    expect(seen).toEqual([...seen].sort().reverse());
    expect(seen.length).toBeGreaterThanOrEqual(3);
  });

  it('shows owners every line, and others the lines of their projects', async () => {
    const project = await api.call('POST', '/projects', {
      bearer: acme.owner.token,
      body: { name: 'secret', organization_id: acme.organizationId },
    });
    await api.call('PATCH', `/projects/${project.body.id}`, {
      bearer: acme.owner.token,
      body: { name: 'more-secret' },
    });
    const actions = async (bearer: string, query = '') =>
      (await logs(acme, bearer, query)).items.map(({ action }: { action: string }) => action);
    expect(await actions(acme.owner.token)).toContain('projects.create');
    expect(await actions(operator.token)).toContain('projects.change');
    for (const bearer of [acme.member.token, acme.readOnly.token, acme.accessKey]) {
      const seen = await actions(bearer);
      expect(seen).toContain('vms.create');
      expect(seen).not.toContain('projects.create');
      expect(seen).not.toContain('projects.change');
      expect(await actions(bearer, `?project_id=${project.body.id}`)).toEqual([]);
    }
    expect(await actions(acme.owner.token, `?project_id=${project.body.id}`)).toEqual([
      'projects.change',
    ]);
  });

  it('does not exist for callers outside the organization', async () => {
    const path = `/organizations/${acme.organizationId}/audit-logs`;
    for (const bearer of [other.owner.token, other.accessKey]) {
      expect((await api.call('GET', path, { bearer })).status).toBe(404);
    }
  });
});

describe("the installation's audit log", () => {
  it('shows the lines of all tenants to operators only', async () => {
    await createVm(acme, 'for-operators');
    await createVm(other, 'for-operators');
    const { body } = await api.call('GET', '/admin/audit-logs?limit=1000', {
      bearer: operator.token,
    });
    const seen = new Set(
      body.items.map(({ organization_id }: { organization_id: string }) => organization_id),
    );
    expect(seen).toContain(acme.organizationId);
    expect(seen).toContain(other.organizationId);
    const refused = await api.call('GET', '/admin/audit-logs', { bearer: acme.owner.token });
    expect(refused.status).toBe(403);
  });
});
