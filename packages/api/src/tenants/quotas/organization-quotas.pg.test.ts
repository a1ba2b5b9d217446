import { connect } from '@gantry/db/connect';
import { newId } from '@gantry/model/ids';
import { DEFAULT_ORGANIZATION_QUOTAS, ORGANIZATION_QUOTA_TYPES } from '@gantry/model/states';
import { startTestApi, type TestApi } from '@gantry/testkit/api/test-api';
import {
  makeTenant,
  makeUser,
  SSH_PUBLIC_KEY,
  type TestTenant,
  type TestUser,
} from '@gantry/testkit/make/tenants';
import { afterAll, beforeAll, expect, it } from 'vitest';

let api: TestApi;
let acme: TestTenant;
let other: TestTenant;
let operator: TestUser;
let secondProject: string;

beforeAll(async () => {
  api = await startTestApi();
  acme = await makeTenant(api, 'acme');
  other = await makeTenant(api, 'other');
  operator = await makeUser(api, 'operator@gantry.test', { operator: true });
  secondProject = (await createProject('second')).body.id;
});
afterAll(() => api.stop());

const createProject = (name: string) =>
  api.call('POST', '/projects', {
    ...{ bearer: acme.owner.token, body: { name, organization_id: acme.organizationId } },
  });
const createVm = (projectId: string, name: string) =>
  api.call('POST', `/projects/${projectId}/vms`, {
    bearer: acme.owner.token,
    body: {
      ...{ name, type: 'a40.1x', location: 'eu-north-a', image: 'debian-12' },
      ssh_public_key: SSH_PUBLIC_KEY,
    },
  });
const setQuotas = (organizationId: string, body: unknown, bearer = operator.token) =>
  api.call('PUT', `/admin/organizations/${organizationId}/quotas`, { bearer, body });
const quotas = async (bearer: string) =>
  (await api.call('GET', `/organizations/${acme.organizationId}/quotas`, { bearer })).body.quotas;
const quota = async (type: string) =>
  (await quotas(acme.readOnlyKey)).find((row: { type: string }) => row.type === type);

it('the quotas of an organization are listed with the sums over its projects', async () => {
  const rows: { type: keyof typeof DEFAULT_ORGANIZATION_QUOTAS; max: number }[] = await quotas(
    acme.readOnlyKey,
  );
  expect(rows.map(({ type }) => type)).toEqual(ORGANIZATION_QUOTA_TYPES);
  for (const { type, max } of rows) expect(max).toBe(DEFAULT_ORGANIZATION_QUOTAS[type]);
  expect(await quota('projects')).toMatchObject({ used: 2, available: 48 });
  expect(await quota('firewall_rules')).toMatchObject({ used: 8 });
  const path = `/organizations/${acme.organizationId}/quotas`;
  expect((await api.call('GET', path, { bearer: other.accessKey })).status).toBe(404);
  const seen = await api.call('GET', `/admin${path}`, { bearer: operator.token });
  expect(seen.body.quotas).toEqual(rows);
});

it('concurrent creations in several projects never exceed the quota of their organization', async () => {
  const projectIds = [acme.projectId, secondProject];
  for (const name of ['third', 'fourth', 'fifth', 'sixth']) {
    projectIds.push((await createProject(name)).body.id);
  }
  await setQuotas(acme.organizationId, { vms: 7 });
  const replies = await Promise.all(
    Array.from({ length: 24 }, (_, i) =>
      createVm(projectIds[i % projectIds.length] ?? '', `racer-${i}`),
    ),
  );
  expect(replies.filter(({ status }) => status === 200)).toHaveLength(7);
  const refused = replies.filter(({ status }) => status === 422);
  expect(refused).toHaveLength(17);
  for (const { body } of refused) {
    expect(body).toMatchObject({
      code: 'quota_exceeded',
      details: { scope: 'organization', type: 'vms', max: 7, used: 7, requested: 1 },
    });
    expect(body.message).toContain("the organization's quota of vms is 7, 7 used");
  }
  expect(await quota('vms')).toEqual({ type: 'vms', max: 7, used: 7, available: 0 });
  expect(await quota('gpus')).toMatchObject({ used: 7 });
  await setQuotas(acme.organizationId, { vms: 2_000 });
});

it('a creation counts an unfinished one in another project of the organization', async () => {
  const { used } = await quota('networks');
  await setQuotas(acme.organizationId, { networks: used + 1 });
  const holder = connect({ url: api.databaseUrl, name: 'other-creation', maxConnections: 1 });
  await holder`begin`;
  await holder`insert into networks (id, project_id, name, cidr)
    values (${newId()}, ${acme.projectId}, 'first', '10.1.0.0/16')`;
  const second = api.call('POST', `/projects/${secondProject}/vpc/networks`, {
    ...{ bearer: acme.owner.token, body: { name: 'second', cidr: '10.2.0.0/16' } },
  });
  const waiting = async () =>
    (
      await api.sql`select from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`
    ).count;
  await expect.poll(waiting).toBe(1);
  await holder`commit`;
  await holder.end();
  expect((await second).body.details).toMatchObject({
    ...{ scope: 'organization', type: 'networks', max: used + 1, used: used + 1 },
  });
  await setQuotas(acme.organizationId, { networks: 200 });
});

it('the quota of a project is reported before that of its organization', async () => {
  await api.call('PUT', `/admin/projects/${secondProject}/quotas`, {
    ...{ bearer: operator.token, body: { vms: 0 } },
  });
  await setQuotas(acme.organizationId, { vms: 0 });
  const { body } = await createVm(secondProject, 'late');
  expect(body.details).toMatchObject({ scope: 'project', type: 'vms', max: 0 });
  await setQuotas(acme.organizationId, { vms: 2_000 });
});

it('concurrent creations of projects never exceed the quota of projects', async () => {
  await setQuotas(acme.organizationId, { projects: 9 });
  const replies = await Promise.all(
    Array.from({ length: 12 }, (_, i) => createProject(`project-${i}`)),
  );
  expect(replies.filter(({ status }) => status === 200)).toHaveLength(3);
  const refused = replies.filter(({ status }) => status === 422);
  expect(refused).toHaveLength(9);
  expect(refused[0]?.body.details).toMatchObject({ scope: 'organization', type: 'projects' });
  const [deleted] = replies.filter(({ status }) => status === 200);
  const path = `/projects/${deleted?.body.id}`;
  expect((await api.call('DELETE', path, { bearer: acme.owner.token })).status).toBe(200);
  expect((await createProject('after-a-deletion')).status).toBe(200);
});

it('creations of every kind in one organization do not deadlock', async () => {
  await setQuotas(acme.organizationId, { projects: 1_000 });
  const network = async (i: number) => {
    const path = `/projects/${acme.projectId}/vpc/networks`;
    const bearer = acme.owner.token;
    const { body } = await api.call('POST', path, {
      ...{ bearer, body: { name: `n-${i}`, cidr: `10.${100 + i}.0.0/16` } },
    });
    return await api.call('DELETE', `${path}/${body.id}`, { bearer });
  };
  const replies = await Promise.all(
    Array.from({ length: 12 }, (_, i) => [
      ...[createProject(`busy-${i}`), createVm(acme.projectId, `busy-${i}`), network(i)],
      setQuotas(acme.organizationId, { networks: 200, vms: 2_000, projects: 1_000 }),
    ]).flat(),
  );
  expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200));
});

it('only operators set the quotas of an organization, and wrong ones are refused', async () => {
  expect((await setQuotas(acme.organizationId, { vms: 9 }, acme.owner.token)).status).toBe(403);
  expect((await setQuotas(acme.projectId, { vms: 9 })).status).toBe(404);
  for (const body of [{ vms: -1 }, { subnets: 1 }, { projects: 1.5 }]) {
    const reply = await setQuotas(acme.organizationId, body);
    expect(reply.status).toBe(400);
    expect(reply.body.details[0].field).toBe(Object.keys(body)[0]);
  }
});
