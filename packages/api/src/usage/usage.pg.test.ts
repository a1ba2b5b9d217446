import { insertProject } from '@gantry/db/queries/tenants/tenants';
import { closeInterval, openInterval } from '@gantry/db/queries/usage/meter';
import { closeDueDays } from '@gantry/db/queries/usage/usage';
import { newId } from '@gantry/model/ids';
import { startTestApi, type TestApi } from '@gantry/testkit/api/test-api';
import { vmBody } from '@gantry/testkit/make/request-bodies';
import { makeTenant, type TestTenant } from '@gantry/testkit/make/tenants';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { usageRoutes } from './routes.ts';

const DAY_MS = 86_400_000;
let api: TestApi;
let tenant: TestTenant;
let stranger: TestTenant;
const otherProject = newId();
const dayAgo = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10);

beforeAll(async () => {
  api = await startTestApi();
  tenant = await makeTenant(api, 'acme');
  stranger = await makeTenant(api, 'stranger');
  const { organizationId, projectId } = tenant;
  await api.sql.begin((tx) =>
    insertProject(tx, { id: otherProject, name: 'other', organization_id: organizationId }),
  );
  const startedAt = new Date(`${dayAgo(40)}T00:00:00Z`);
  const used = { organizationId, region: 'eu-north', startedAt };
  await openInterval(api.sql, {
    ...used,
    projectId,
    resourceId: newId(),
    metered: { metric: 'gb_hours', diskType: 'persistent-ssd', sizeGb: 1000 },
  });
  await openInterval(api.sql, {
    ...used,
    projectId: otherProject,
    resourceId: newId(),
    region: 'us-east',
    metered: { metric: 'vm_seconds', vmType: 'a40.1x' },
  });
  // Five minutes after midnight: yesterday is closed whenever the test runs.
  await closeDueDays(api.sql, new Date(`${dayAgo(0)}T00:05:00Z`));
});
afterAll(() => api.stop());

const ask = (query = '', bearer = tenant.owner.token, organizationId = tenant.organizationId) =>
  api.call('GET', `/organizations/${organizationId}/usage${query}`, { bearer });
const dates = async (query: string) =>
  [...new Set((await ask(query)).body.items.map(({ date }: { date: string }) => date))] as string[];

describe('usage', () => {
  it('covers the last 30 closed days by default, with numbers as JSON numbers', async () => {
    const { status, body } = await ask();
    expect(status).toBe(200);
    expect(usageRoutes[0]?.reply.parse(body)).toEqual(body);
    expect(body.items).toHaveLength(60);
    expect(await dates('')).toEqual(Array.from({ length: 30 }, (_, index) => dayAgo(30 - index)));
    const onProject = (id: string) =>
      body.items.find((item: { project_id: string }) => item.project_id === id);
    expect(onProject(tenant.projectId)).toEqual({
      date: dayAgo(30),
      project_id: tenant.projectId,
      region: 'eu-north',
      priced: true,
      resource_type: 'persistent-ssd',
      billable_metric: 'gb_hours',
      quantity: 24_000,
      cost_usd: 3.12,
      ...{ adjustment_reason: '', adjusted_at: '' },
    });
    expect(onProject(otherProject)).toMatchObject({
      billable_metric: 'vm_seconds',
      quantity: 86_400,
      cost_usd: 0,
      priced: false,
    });
  });

  it('includes the first and the last day of the period', async () => {
    expect(await dates(`?start_date=${dayAgo(3)}&end_date=${dayAgo(2)}`)).toEqual([
      dayAgo(3),
      dayAgo(2),
    ]);
    expect(await dates(`?end_date=${dayAgo(39)}`)).toEqual([dayAgo(40), dayAgo(39)]);
    expect(await dates(`?start_date=${dayAgo(2)}`)).toEqual([dayAgo(2), dayAgo(1)]);
    expect(await dates(`?start_date=${dayAgo(0)}`)).toEqual([]);
    expect((await ask('?start_date=2024-01-01&end_date=2024-12-31')).status).toBe(200);
  });

  it('is filtered by project, resource type and region', async () => {
    const types = async (query: string) => [
      ...new Set(
        (await ask(query)).body.items.map((item: { resource_type: string }) => item.resource_type),
      ),
    ];
    expect(await types(`?projects=${otherProject.toUpperCase()}`)).toEqual(['a40.1x']);
    expect(await types(`?projects=${otherProject},${tenant.projectId}`)).toHaveLength(2);
    expect(await types('?resource_types=persistent-ssd,none')).toEqual(['persistent-ssd']);
    expect(await types('?regions=us-east')).toEqual(['a40.1x']);
    expect(await types('?regions=mars')).toEqual([]);
  });

  it.each([
    ['start_date=2026-02-30', 'start_date'],
    ['end_date=2026-13-01', 'end_date'],
    ['end_date=0001-01-05', 'end_date'],
    ['start_date=yesterday', 'start_date'],
    ['start_date=2026-01-02&end_date=2026-01-01', 'start_date'],
    ['start_date=2024-01-01&end_date=2025-01-01', 'start_date'],
    ['start_date=2020-01-01', 'start_date'],
    ['projects=x', 'projects.0'],
    ['regions=%00', 'regions.0'],
    ['from=2026-01-01', 'from'],
  ])('is refused for %s with an error that names the field', async (query, field) => {
    const { status, body } = await ask(`?${query}`);
    expect([status, body.code, body.details?.[0]?.field]).toEqual([400, 'bad_request', field]);
  });
});

describe('the usage of a VM', () => {
  it('is the time that it and its OS disk counted, at the prices of each day', async () => {
    const { projectId, accessKey, organizationId } = tenant;
    const created = await api.call('POST', `/projects/${projectId}/vms`, {
      bearer: accessKey,
      body: vmBody({ name: 'metered', type: 'a40.2x' }),
    });
    const vmId = created.body.operation.metadata.id;
    const read = (bearer = accessKey, project = projectId) =>
      api.call('GET', `/projects/${project}/vms/${vmId}/usage`, { bearer });
    expect((await read()).body).toMatchObject({ vm_id: vmId, vm_seconds: 0, vm_cost_usd: 0 });
    const [disk] = await api.sql`select disk_id from disk_attachments where vm_id = ${vmId}`;
    const used = { organizationId, projectId, region: 'eu-north' };
    // Two hours of a closed day without a price, and a minute of today, which has one.
    await api.sql`insert into prices (resource_type, usd_per_hour) values ('a40.2x', 75)`;
    const metered = { metric: 'vm_seconds', vmType: 'a40.2x' } as const;
    const at = (text: string) => new Date(text);
    for (const [startedAt, endedAt] of [
      [at(`${dayAgo(2)}T23:00:00Z`), at(`${dayAgo(1)}T01:00:00Z`)],
      [at(`${dayAgo(0)}T00:00:00Z`), at(`${dayAgo(0)}T00:01:00Z`)],
    ] as const) {
      await openInterval(api.sql, { ...used, resourceId: vmId, startedAt, metered });
      await closeInterval(api.sql, { resourceId: vmId, endedAt });
    }
    const diskId = disk?.['disk_id'];
    await api.sql`delete from meter_intervals where resource_id = ${diskId}`;
    await openInterval(api.sql, {
      ...{ ...used, resourceId: diskId, startedAt: at(`${dayAgo(1)}T00:00:00Z`) },
      metered: { metric: 'gb_hours', diskType: 'persistent-ssd', sizeGb: 100 },
    });
    await closeInterval(api.sql, { resourceId: diskId, endedAt: at(`${dayAgo(1)}T10:00:00Z`) });
    expect((await read()).body).toEqual({
      ...{ vm_id: vmId, until: expect.stringMatching(/Z$/), vm_seconds: 2 * 3600 + 60 },
      ...{ vm_cost_usd: 1.25, os_disk_gb_hours: 1000, os_disk_cost_usd: 0.13, cost_usd: 1.38 },
      priced: false,
    });
    expect((await read(stranger.accessKey)).status).toBe(404);
    expect((await read(stranger.accessKey, stranger.projectId)).status).toBe(404);
  });
});

describe('the visibility of usage', () => {
  it('is limited to the project of a key or a member, whatever the request', async () => {
    for (const bearer of [
      tenant.accessKey,
      tenant.readOnlyKey,
      tenant.member.token,
      tenant.readOnly.token,
    ]) {
      const { body } = await ask('', bearer);
      expect(body.items).toHaveLength(30);
      expect(new Set(body.items.map((item: { project_id: string }) => item.project_id))).toEqual(
        new Set([tenant.projectId]),
      );
      expect((await ask(`?projects=${otherProject}`, bearer)).body.items).toEqual([]);
    }
  });

  it('excludes strangers, who get not_found', async () => {
    expect((await ask('', stranger.owner.token)).status).toBe(404);
    expect((await ask('', stranger.owner.token, stranger.organizationId)).body).toEqual({
      items: [],
    });
  });
});
