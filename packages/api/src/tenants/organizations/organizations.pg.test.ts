import { adjustClosedDays } from '@gantry/db/queries/usage/adjustments';
import { closeInterval, openInterval } from '@gantry/db/queries/usage/meter';
import { closeDay } from '@gantry/db/queries/usage/usage';
import { newId } from '@gantry/model/ids';
import { startTestApi, type TestApi } from '@gantry/testkit/api/test-api';
import { makeTenant, makeUser, type TestTenant, type TestUser } from '@gantry/testkit/make/tenants';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let api: TestApi;
let acme: TestTenant;
let unpaid: TestTenant;
let operator: TestUser;

beforeAll(async () => {
  api = await startTestApi();
  acme = await makeTenant(api, 'acme');
  unpaid = await makeTenant(api, 'unpaid', { paid: false });
  operator = await makeUser(api, 'operator@gantry.test', { operator: true });
});
afterAll(() => api.stop());

const list = async (bearer: string) => (await api.call('GET', '/organizations', { bearer })).body;
const create = (bearer: string, name: unknown, headers = {}) =>
  api.call('POST', '/organizations', { bearer, body: { name }, headers });

describe('listing organizations', () => {
  it('shows keys and members their own organization, as a plain array', async () => {
    const own = {
      id: acme.organizationId,
      name: 'acme',
      payment_customer_id: `local_${acme.organizationId}`,
    };
    for (const bearer of [
      acme.accessKey,
      acme.readOnlyKey,
      acme.owner.token,
      acme.member.token,
      acme.readOnly.token,
    ]) {
      expect(await list(bearer)).toEqual([own]);
    }
  });

  it('shows an empty array to a user without an organization', async () => {
    const { token } = await makeUser(api, 'nobody@example.test');
    expect(await list(token)).toEqual([]);
  });

  it('works without a payment method', async () => {
    expect(await list(unpaid.accessKey)).toMatchObject([{ name: 'unpaid' }]);
  });
});

describe('creating an organization', () => {
  it('makes the caller, who owns another organization, the owner at once', async () => {
    const { status, body } = await create(acme.owner.token, 'Acme Research');
    expect(status).toBe(200);
    expect(body).toEqual({
      id: expect.any(String),
      name: 'Acme Research',
      payment_customer_id: `local_${body.id}`,
    });
    expect(await list(acme.owner.token)).toContainEqual(body);
    const members = await api.call('GET', `/organizations/${body.id}/members`, {
      bearer: acme.owner.token,
    });
    expect(members.body.items).toMatchObject([{ email: acme.owner.email, role: 'owner' }]);
  });

  it('is the first line of its audit log', async () => {
    const { body } = await create(operator.token, 'Audited');
    const lines = await api.sql`select * from audit_logs where organization_id = ${body.id}`;
    expect(lines).toMatchObject([{ action: 'organizations.create', resource_id: body.id }]);
  });

  it('is allowed for operators and owners; members and access keys are refused', async () => {
    for (const bearer of [acme.member.token, acme.readOnly.token, acme.accessKey]) {
      expect((await create(bearer, 'nope')).body.code).toBe('forbidden');
    }
  });

  it('has one effect for one Idempotency-Key', async () => {
    const headers = { 'idempotency-key': 'organization-once' };
    const first = await create(operator.token, 'Once', headers);
    expect((await create(operator.token, 'Once', headers)).body).toEqual(first.body);
    expect(await api.sql`select from organizations where name = 'Once'`).toHaveLength(1);
  });

  it.each(['', ' x', 'a\nb', 'x'.repeat(256), 7])('refuses the name %j', async (name) => {
    const { status, body } = await create(operator.token, name);
    expect(status).toBe(400);
    expect(body.details).toMatchObject([{ field: 'name' }]);
  });
});

describe('changing an organization', () => {
  const path = (id: string) => `/organizations/${id}`;

  it('lets its owner rename it', async () => {
    const { body } = await create(acme.owner.token, 'Before');
    const renamed = await api.call('PATCH', path(body.id), {
      bearer: acme.owner.token,
      body: { name: 'After' },
    });
    expect(renamed.body).toEqual({ ...body, name: 'After' });
    expect(await list(acme.owner.token)).toContainEqual(renamed.body);
  });

  it('is forbidden for members and not_found for strangers', async () => {
    for (const [method, body] of [
      ['PATCH', { name: 'Mine' }],
      ['DELETE', undefined],
    ] as const) {
      const request = { ...(body ? { body } : {}) };
      const byMember = await api.call(method, path(acme.organizationId), {
        bearer: acme.member.token,
        ...request,
      });
      expect(byMember.status).toBe(403);
      const byStranger = await api.call(method, path(acme.organizationId), {
        bearer: unpaid.owner.token,
        ...request,
      });
      expect(byStranger.status).toBe(404);
    }
    expect(await list(acme.owner.token)).toContainEqual(
      expect.objectContaining({ id: acme.organizationId, name: 'acme' }),
    );
  });

  it('keeps it while it uses something or has usage that is not billed', async () => {
    const bearer = acme.owner.token;
    const { body } = await create(bearer, 'Owing');
    const resourceId = newId();
    const remove = async () => {
      const reply = await api.call('DELETE', path(body.id), { bearer });
      return [reply.status, reply.body.code ?? '', reply.body.message ?? ''];
    };
    const refused = [409, 'conflict', expect.stringContaining('not billed yet')];
    const metered = { metric: 'vm_seconds', vmType: 'a40.1x' } as const;
    await openInterval(api.sql, {
      ...{ organizationId: body.id, projectId: newId(), resourceId, region: 'eu-north', metered },
      startedAt: new Date('2026-01-05T10:00:00Z'),
    });
    expect(await remove()).toEqual(refused);
    await closeInterval(api.sql, { resourceId, endedAt: new Date('2026-01-05T11:00:00Z') });
    expect(await remove()).toEqual(refused);
    await closeDay(api.sql, '2026-01-05');
    // The interval was recorded long after its day, so that the day may need an adjustment.
    expect(await remove()).toEqual(refused);
    await adjustClosedDays(api.sql);
    await api.sql`insert into payment_outbox (organization_id, kind, date, resource_type, billable_metric, quantity, cost_usd)
      values (${body.id}, 'usage', '2026-01-05', 'a40.1x', 'vm_seconds', 3600, 1)`;
    expect(await remove()).toEqual(refused);
    await api.sql`update payment_outbox set sent_at = now() where organization_id = ${body.id}`;
    expect((await remove())[0]).toBe(200);
  });

  it('deletes it if it has no projects', async () => {
    const bearer = acme.owner.token;
    const { body } = await create(bearer, 'Doomed');
    const project = await api.call('POST', '/projects', {
      bearer,
      body: { name: 'last', organization_id: body.id },
    });
    const refused = await api.call('DELETE', path(body.id), { bearer });
    expect(refused.status).toBe(409);
    expect(refused.body.code).toBe('conflict');
    await api.call('DELETE', `/projects/${project.body.id}`, { bearer });
    const deleted = await api.call('DELETE', path(body.id), { bearer });
    expect(deleted.status).toBe(200);
    expect(deleted.body).toEqual(body);
    expect((await api.call('DELETE', path(body.id), { bearer })).status).toBe(404);
  });
});
