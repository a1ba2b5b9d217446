import { insertEvents, type NewEvent } from '@gantry/db/queries/operations/events';
import { newId } from '@gantry/model/ids';
import { startTestApi, type TestApi } from '@gantry/testkit/api/test-api';
import { makeTenant, type TestTenant } from '@gantry/testkit/make/tenants';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let api: TestApi;
let acme: TestTenant;
let globex: TestTenant;

beforeAll(async () => {
  api = await startTestApi();
  acme = await makeTenant(api, 'acme');
  globex = await makeTenant(api, 'globex');
});
afterAll(() => api.stop());

const list = (tenant: TestTenant, query = '') =>
  api.call('GET', `/projects/${tenant.projectId}/events${query}`, { bearer: tenant.readOnlyKey });
const event = (tenant: TestTenant, event: Partial<NewEvent> = {}): NewEvent => ({
  projectId: tenant.projectId,
  resourceType: 'vm',
  resourceId: newId(),
  type: 'vm_crashed',
  message: 'the VM crashed',
  ...event,
});
const idsOf = (body: { items: { resource_id: string }[] }) =>
  body.items.map(({ resource_id }) => resource_id);

describe('events', () => {
  it('show what happened to which resource, only to their project', async () => {
    const message = 'it said "no", then {stop}, and \\ went\nway';
    const mine = event(acme, { message, type: 'vm_unreachable' });
    await insertEvents(api.sql, [mine, event(globex)]);
    const { status, body } = await list(acme);
    expect(status).toBe(200);
    expect(body).toEqual({
      items: [
        {
          id: expect.stringMatching(/^[0-9a-f-]{36}$/),
          type: 'vm_unreachable',
          message,
          resource_type: 'vm',
          resource_id: mine.resourceId,
          created_at: expect.stringMatching(/Z$/),
        },
      ],
      next_page_token: '',
    });
  });

  it('are listed newest first, in pages', async () => {
    const tenant = await makeTenant(api, 'paged');
    const resourceIds: string[] = [];
    for (let ageDays = 5; ageDays > 0; ageDays -= 1) {
      const made = event(tenant);
      await insertEvents(api.sql, [made]);
      // Ids of the same millisecond have no order, so the events are days apart.
      await api.sql`update events set id = ${newId(Date.now() - ageDays * 86_400_000)}
        where resource_id = ${made.resourceId}`;
      resourceIds.unshift(made.resourceId);
    }
    const pages: string[][] = [];
    let token = '';
    do {
      const { body } = await list(tenant, `?limit=2${token && `&page_token=${token}`}`);
      pages.push(idsOf(body));
      token = body.next_page_token;
    } while (token !== '');
    expect(pages).toEqual([resourceIds.slice(0, 2), resourceIds.slice(2, 4), resourceIds.slice(4)]);
  });

  it('are filtered by resource and by type', async () => {
    const tenant = await makeTenant(api, 'filtered');
    const crash = event(tenant);
    const drain = event(tenant, { type: 'vm_host_draining', resourceId: crash.resourceId });
    const other = event(tenant);
    await insertEvents(api.sql, [crash, drain, other]);
    const of = async (query: string) => idsOf((await list(tenant, query)).body).toSorted();
    const both = [crash.resourceId, other.resourceId].toSorted();
    expect(await of(`?resource_id=${crash.resourceId}`)).toEqual([
      crash.resourceId,
      drain.resourceId,
    ]);
    expect(await of('?type=vm_crashed')).toEqual(both);
    expect(await of(`?type=vm_crashed&resource_id=${crash.resourceId}`)).toEqual([
      crash.resourceId,
    ]);
    expect(await of('?type=vm_host_fenced')).toEqual([]);
  });

  it.each(['type=vm_moved', 'resource_id=7', 'limit=0', 'state=x'])('refuse ?%s', async (query) => {
    const { status, body } = await list(acme, `?${query}`);
    expect(status).toBe(400);
    expect(body.details).toMatchObject([{ field: query.split('=')[0] }]);
  });

  it('are inserted all together or not at all', async () => {
    const tenant = await makeTenant(api, 'batched');
    await insertEvents(api.sql, []);
    await insertEvents(
      api.sql,
      Array.from({ length: 500 }, () => event(tenant)),
    );
    expect((await list(tenant, '?limit=1000')).body.items).toHaveLength(500);
    const bad = event(tenant, { projectId: newId() });
    await expect(insertEvents(api.sql, [event(tenant), bad])).rejects.toThrow();
    expect((await list(tenant, '?limit=1000')).body.items).toHaveLength(500);
  });
});
