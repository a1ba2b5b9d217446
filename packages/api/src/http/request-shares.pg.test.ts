import { connect } from '@gantry/db/connect';
import { startTestApi, type TestApi } from '@gantry/testkit/api/test-api';
import { makeTenant, type TestTenant } from '@gantry/testkit/make/tenants';
import { afterAll, beforeAll, expect, it } from 'vitest';

let api: TestApi;
let acme: TestTenant;
let other: TestTenant;
beforeAll(async () => {
  api = await startTestApi();
  acme = await makeTenant(api, 'acme');
  other = await makeTenant(api, 'other');
});
afterAll(() => api.stop());

const createNetwork = (tenant: TestTenant, name: string, cidr: string) =>
  api.call('POST', `/projects/${tenant.projectId}/vpc/networks`, {
    bearer: tenant.accessKey,
    body: { name, cidr },
  });

it('requests of one organization that wait for locks leave connections to the others', async () => {
  const holder = connect({ url: api.databaseUrl, name: 'lock-holder', maxConnections: 1 });
  const waiting = async () => {
    const [row] = await api.sql<{ count: number }[]>`
      select count(*)::int as count from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`;
    return row?.count ?? 0;
  };
  await holder`begin`;
  await holder`select from projects where id = ${acme.projectId} for update`;
  const slow = Array.from({ length: 30 }, (_, i) =>
    createNetwork(acme, `slow-${i}`, `10.${i}.0.0/16`),
  );
  let ended = 0;
  for (const one of slow) void one.then(() => (ended += 1));
  await expect.poll(waiting).toBe(4);

  // All of these are served while the thirty requests wait.
  expect((await createNetwork(other, 'quick', '10.1.0.0/16')).status).toBe(200);
  for (const path of ['vms', 'disks', 'vpc/networks']) {
    const { accessKey: bearer, projectId } = other;
    expect((await api.call('GET', `/projects/${projectId}/${path}`, { bearer })).status).toBe(200);
  }
  expect(ended).toBe(0);
  expect(await waiting()).toBe(4);

  await holder`rollback`;
  await holder.end();
  const statuses = (await Promise.all(slow)).map(({ status }) => status);
  expect(statuses.filter((status) => status === 200)).toHaveLength(19);
  expect(statuses.filter((status) => status === 422)).toHaveLength(11);
});
