import { startTestApi, type TestApi } from '@gantry/testkit/api/test-api';
import { addHosts } from '@gantry/testkit/make/hosts';
import { makeTenant, type TestTenant } from '@gantry/testkit/make/tenants';
import { afterAll, beforeAll, expect, it } from 'vitest';

let api: TestApi;
let tenant: TestTenant;
beforeAll(async () => {
  api = await startTestApi();
  tenant = await makeTenant(api, 'acme');
  await api.sql`update quotas set max = 100 where type = 'networks'`;
});
afterAll(() => api.stop());

let blocks = 0;
const call = (method: string, path: string, body?: unknown) =>
  api.call(method, `/projects/${tenant.projectId}/vpc/networks${path}`, {
    bearer: tenant.accessKey,
    ...(body === undefined ? {} : { body }),
  });
const create = (name: string) => call('POST', '', { name, cidr: `10.${++blocks}.0.0/16` });
const remove = async (name: string) => {
  const [row] = await api.sql<{ id: string }[]>`select id from networks where name = ${name}`;
  expect((await call('DELETE', `/${row?.id}`)).status).toBe(200);
};
const vniOf = async (name: string): Promise<number> => {
  const [row] = await api.sql<{ vni: number }[]>`select vni from networks where name = ${name}`;
  return row?.vni ?? 0;
};
/** Leaves no number that was never used. */
async function useUpNewNumbers() {
  await api.sql`update vni_pool set next = last + 1`;
  await api.sql`delete from free_vnis where freed_at is null`;
}
const age = (vni: number, by: string) =>
  api.sql`update free_vnis set freed_at = freed_at - ${by}::interval where vni = ${vni}`;

it('a refused creation uses up no network number', async () => {
  await create('first');
  for (let i = 0; i < 30; i += 1) expect((await create('first')).status).toBe(409);
  await create('second');
  expect(await vniOf('second')).toBe((await vniOf('first')) + 1);
});

it('concurrent creations get different numbers, also while new ones are added', async () => {
  await api.sql`delete from free_vnis where freed_at is null
    and vni > (select min(vni) + 2 from free_vnis where freed_at is null)`;
  const replies = await Promise.all(Array.from({ length: 20 }, (_, i) => create(`many-${i}`)));
  expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200));
  const [row] = await api.sql`select count(distinct vni)::int as vnis, count(*)::int as networks
    from networks`;
  expect(row?.['vnis']).toBe(row?.['networks']);
});

it('numbers that were never used come before freed ones', async () => {
  await create('short');
  const freed = await vniOf('short');
  await remove('short');
  await age(freed, '1 year');
  await create('next');
  expect(await vniOf('next')).toBeGreaterThan(freed);
});

it('a freed number is used again after a rest, the one that was freed first before others', async () => {
  await useUpNewNumbers();
  await api.sql`delete from free_vnis`;
  const [a, b] = [await vniOf('many-1'), await vniOf('many-2')];
  await remove('many-2');
  await remove('many-1');
  expect(await create('too-early')).toMatchObject({
    ...{ status: 503, body: { code: 'unavailable' } },
  });
  for (const vni of [a, b]) await age(vni, '59 minutes');
  expect((await create('too-early')).status).toBe(503);
  for (const vni of [a, b]) await age(vni, '1 minute');
  await age(b, '1 second');
  expect((await create('reused-1')).status).toBe(200);
  expect((await create('reused-2')).status).toBe(200);
  expect([await vniOf('reused-1'), await vniOf('reused-2')]).toEqual([b, a]);
});

it('a freed number rests until every host has accepted a spec without its network', async () => {
  const [behind, current] = await addHosts(api.sql, 2);
  await api.sql`update hosts set accepted_number = 0 where id = ${behind?.id ?? ''}`;
  await api.sql`update hosts set accepted_number = 1000 where id = ${current?.id ?? ''}`;
  const vni = await vniOf('many-3');
  await remove('many-3');
  await age(vni, '2 days');
  const [noted] = await api.sql`select host_ids from free_vnis where vni = ${vni}`;
  expect(noted?.['host_ids']).toEqual([behind?.id]);
  expect((await create('waits')).status).toBe(503);

  // A later change of the spec does not matter: the host forgets the network with the earlier one.
  await api.sql`update hosts h set accepted_number = r.number from host_revisions r
    where r.host_id = h.id and h.id = ${behind?.id ?? ''}`;
  await api.sql`update host_revisions set number = number + 5 where host_id = ${behind?.id ?? ''}`;
  expect((await create('waited')).status).toBe(200);
  expect(await vniOf('waited')).toBe(vni);
});

it('a freed number does not wait for a host that was fenced', async () => {
  const [dead] = await addHosts(api.sql, 1);
  const vni = await vniOf('many-4');
  await remove('many-4');
  await age(vni, '2 days');
  expect((await create('mourns')).status).toBe(503);
  await api.sql`update hosts set accepted_number = 1000 where id <> ${dead?.id ?? ''}`;
  await api.sql`update hosts set fenced_at = now(), state = 'fenced' where id = ${dead?.id ?? ''}`;
  expect((await create('mourned')).status).toBe(200);
});
