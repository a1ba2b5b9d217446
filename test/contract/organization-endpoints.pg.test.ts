import { closeInterval, openInterval } from '@gantry/db/queries/usage/meter';
import { closeDay } from '@gantry/db/queries/usage/usage';
import { newId } from '@gantry/model/ids';
import { newName, vmBody } from '@gantry/testkit/make/request-bodies';
import { makeTenant } from '@gantry/testkit/make/tenants';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import {
  clientOf,
  expectFieldRefused,
  expectRefusal,
  type Fields,
  membersOf,
  NOBODY,
  operationOf,
  startWorld,
  TIMESTAMP,
  type World,
} from './support.ts';

let world: World;
let P: string;
let O: string;

beforeAll(async () => {
  world = await startWorld({ trustedProxies: 1 });
  ({ P, O } = world);
});
afterAll(() => world.api.stop());

const read = async (path: string) => (await world.get(path)).body;

describe('docs/contract/tenancy.md: endpoints and their replies', () => {
  it('usage lists closed days and takes filters', async () => {
    const { sql } = world.api;
    const { organizationId } = world.tenant;
    const project = { name: newName(), organization_id: organizationId };
    const { id: other } = (await world.owner.post('/projects', project)).body;
    const use = async (projectId: string, vmType: string, region: string, day: string) => {
      const resourceId = newId();
      const [startedAt, endedAt] = ['10:00', '11:00'].map((time) => new Date(`${day}T${time}:00Z`));
      await openInterval(sql, {
        ...{ organizationId, projectId, resourceId, region, startedAt: startedAt ?? new Date() },
        metered: { metric: 'vm_seconds', vmType },
      });
      await closeInterval(sql, { resourceId, endedAt: endedAt ?? new Date() });
    };
    await use(world.tenant.projectId, 'a40.1x', 'eu-north', '2026-05-01');
    await use(other, 'a40.1x', 'us-east', '2026-05-01');
    await use(other, 'a40.2x', 'eu-north', '2026-05-02');
    await use(other, 'a40.4x', 'eu-north', '2026-05-03');
    for (const day of ['2026-05-01', '2026-05-02']) await closeDay(sql, day);
    const list = async (query: string): Promise<Fields[]> => {
      const { body } = await world.owner.get(
        `${O}/usage?start_date=2026-05-01&end_date=2026-05-04${query}`,
      );
      expect(membersOf(body)).toEqual(['items']);
      return body.items;
    };
    const types = async (query: string) =>
      (await list(query)).map((item) => `${item['resource_type']} ${item['region']}`).toSorted();
    const [first] = await list(`&projects=${world.tenant.projectId}`);
    expect(first).toMatchObject({
      ...{ date: '2026-05-01', project_id: world.tenant.projectId, resource_type: 'a40.1x' },
      ...{ billable_metric: 'vm_seconds', quantity: 3600, region: 'eu-north', cost_usd: 0 },
    });
    const all = ['a40.1x eu-north', 'a40.1x us-east', 'a40.2x eu-north'];
    // The third day is not closed.
    expect(await types('')).toEqual(all);
    expect(await types(`&projects=${other}`)).toEqual(all.slice(1));
    expect(await types(`&projects=${other},${world.tenant.projectId}`)).toEqual(all);
    expect(await types('&resource_types=a40.2x,a40.4x')).toEqual(all.slice(2));
    expect(await types('&regions=us-east')).toEqual([all[1]]);
    const { items } = (
      await world.owner.get(`${O}/usage?start_date=2026-05-02&end_date=2026-05-02`)
    ).body;
    expect(items.map(({ date }: Fields) => date)).toEqual(['2026-05-02']);
    for (const field of ['start_date', 'end_date']) {
      expectFieldRefused(await world.owner.get(`${O}/usage?${field}=yesterday`), field);
    }
    await closeDay(sql, '2026-05-03');
    expect(await types('')).toEqual([...all, 'a40.4x eu-north']);
  });

  it('the audit log has who did what to what, from where, with which result', async () => {
    const from = { 'x-forwarded-for': '203.0.113.77' };
    const created = operationOf(await world.post(`${P}/vms`, vmBody(), from));
    const refused = await world.post(`${P}/vms`, vmBody({ type: 'a40.3x' }), from);
    const lines = async (): Promise<Fields[]> => {
      const { body } = await world.owner.get(`${O}/audit-logs?limit=1000`);
      expect(membersOf(body)).toEqual(['items', 'next_page_token']);
      return body.items;
    };
    const keys = (await read(`${P}/access-keys`)).items;
    expect(
      (await lines()).find((line) => line['resource_id'] === created.metadata.id),
    ).toMatchObject({
      ...{ action: 'vms.create', resource_type: 'vms', project_id: world.tenant.projectId },
      ...{ actor_type: 'access_key', source_ip: '203.0.113.77', status: 200 },
      at: expect.stringMatching(TIMESTAMP),
    });
    // Refusals are written a moment later.
    const line = await vi.waitFor(async () => {
      const found = (await lines()).find(({ request_id }) => request_id === refused.body.error_id);
      expect(found).toBeDefined();
      return found;
    }, 30_000);
    expect(line).toMatchObject({ action: 'vms.create', source_ip: '203.0.113.77', status: 422 });
    expect(keys.map(({ id }: Fields) => id)).toContain(line?.['actor_id']);
    const page = (await world.owner.get(`${O}/audit-logs?limit=1`)).body;
    const next = `${O}/audit-logs?limit=1&page_token=${page.next_page_token}`;
    expect((await world.owner.get(next)).body.items[0].id).not.toBe(page.items[0].id);
    const stranger = clientOf(world.api, (await makeTenant(world.api, 'stranger')).owner.token);
    expectRefusal(await stranger.get(`${O}/audit-logs`), 404, 'not_found');
  });

  it('organizations and projects are changed by owners and operators only', async () => {
    const { tenant, api } = world;
    const organizationId = tenant.organizationId;
    for (const bearer of [tenant.accessKey, tenant.member.token, tenant.readOnly.token]) {
      const client = clientOf(api, bearer);
      const project = { name: newName(), organization_id: organizationId };
      for (const reply of [
        ...[
          await client.post('/organizations', { name: newName() }),
          await client.patch(O, { name: 'x' }),
        ],
        ...[await client.delete(O), await client.post('/projects', project)],
        ...[await client.patch(P, { name: newName() }), await client.delete(P)],
      ]) {
        expectRefusal(reply, 403, 'forbidden');
      }
    }
    for (const client of [world.owner, world.operator]) {
      const organization = (await client.post('/organizations', { name: newName() })).body;
      const [path, name] = [`/organizations/${organization.id}`, newName()];
      expect((await client.patch(path, { name })).body).toEqual({ ...organization, name });
      const body = { name: newName(), organization_id: organization.id };
      const project = (await client.post('/projects', body)).body;
      expect(project).toMatchObject(body);
      const renamed = await client.patch(`/projects/${project.id}`, { name });
      expect(renamed.body).toEqual({ ...project, name });
      expectRefusal(await client.delete(path), 409, 'conflict');
      expect((await client.delete(`/projects/${project.id}`)).status).toBe(200);
      expect((await client.delete(path)).status).toBe(200);
    }
    expectRefusal(
      await clientOf(api, tenant.owner.token).patch(`/projects/${NOBODY}`, { name: 'x' }),
      404,
      'not_found',
    );
  });
});
