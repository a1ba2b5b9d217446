import { insertRollout } from '@gantry/db/queries/rollouts/rollouts';
import { insertRefreshToken } from '@gantry/db/queries/tenants/tokens';
import { newId } from '@gantry/model/ids';
import { startTestApi, type TestApi } from '@gantry/testkit/api/test-api';
import { addHost } from '@gantry/testkit/make/hosts';
import { makeUser, SSH_PUBLIC_KEY } from '@gantry/testkit/make/tenants';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DOCUMENT, OPERATIONS, type Operation } from '../fuzz/document.ts';
import { type Estate, makeEstate, snapshot } from '../scenarios/tenancy/estate.ts';
import { EXAMPLES } from '../scenarios/tenancy/route-examples.ts';

let api: TestApi;
let estate: Estate;
let ids: Record<string, string>;
let operator: string;

beforeAll(async () => {
  api = await startTestApi();
  estate = await makeEstate(api, 'acme');
  const user = await makeUser(api, 'operator@gantry.test', { operator: true });
  operator = user.token;
  ids = { ...estate.ids, ...(await makeOperatorsThings(user.id)) };
});

/** One thing of each kind that belongs to the operator or to no tenant, by the name of its parameter. */
async function makeOperatorsThings(operatorId: string): Promise<Record<string, string>> {
  const { sql } = api;
  const host = await addHost(sql, { name: 'host', gpus: 1 });
  const create = async (path: string, body: object) =>
    (await call('POST', path, { body })).body.id as string;
  const createStorage = async () => {
    const cluster = { name: 'c', monitors: ['10.0.0.1:3300'], user_name: 'gantry' };
    const clusterId = await create('/admin/storage/clusters', cluster);
    const poolId = await create('/admin/storage/pools', {
      ...{ storage_cluster_id: clusterId, name: 'volumes', location: 'us-east-a' },
      ...{ disk_type: 'persistent-ssd', active: false },
    });
    return { storage_cluster_id: clusterId, storage_pool_id: poolId };
  };
  const [login, orphan, rollout] = [newId(), newId(), newId()];
  await insertRefreshToken(sql, {
    ...{ hash: login, familyId: login, userId: operatorId, sourceIp: '', userAgent: '' },
    expiresAt: new Date(Date.now() + 86_400_000),
  });
  await sql`insert into orphans (id, host_id, vm_id, revision, generation, description)
    values (${orphan}, ${host.id}, ${newId()}, 1, 1, '{"disks": []}')`;
  await insertRollout(sql, {
    ...{ id: rollout, version: '9.0.0', labels: {}, createdBy: operatorId },
    ...{
      canaryCount: 1,
      batchSize: 10,
      hostTimeLimitS: 600,
      maxFailures: 0,
      createdAt: new Date(),
    },
  });
  await call('PUT', '/admin/prices/a40.1x', { body: { usd_per_hour: 1 } });
  const [key] = await sql<{ id: string }[]>`select id from signing_keys`;
  const [address] = await sql<{ id: string }[]>`select id from public_addresses`;
  return {
    ...{ host_id: host.id, device_id: host.gpuIds[0] ?? '', user_id: estate.spareUserId },
    ...{ location: 'eu-north-a', vm_type: 'a40.1x', resource_type: 'a40.1x' },
    disk_type: 'persistent-ssd',
    ...{ login_id: login, orphan_id: orphan, rollout_id: rollout, signing_key_id: key?.id ?? '' },
    public_address_id: address?.id ?? '',
    user_ssh_key_id: await create('/auth/ssh-keys', { name: 'own', public_key: SSH_PUBLIC_KEY }),
    'admin image_id': await create('/admin/images', { name: 'an-image', locations: [] }),
    ...(await createStorage()),
    join_token_id: await create('/admin/join-tokens', { location: 'eu-north-a' }),
    'admin webhook_id': await create('/admin/webhooks', { name: 'w', url: 'https://ops.test/' }),
  };
}
afterAll(() => api.stop());

type Options = { body?: unknown; headers?: Record<string, string> };

/** An operator may call every route, those of tenants included. */
const call = (method: string, path: string, options: Options = {}) =>
  api.call(method.toUpperCase(), path, { bearer: operator, ...options });
const filled = (path: string) => {
  const owner = path.startsWith('/admin/') ? 'admin ' : '';
  return path.replaceAll(/\{(\w+)\}/g, (_, name) => ids[owner + name] ?? ids[name] ?? name);
};
const networkPath = () => filled('/projects/{project_id}/vpc/networks/{network_id}');
const etagAt = async (path: string) => (await call('GET', path)).headers.get('etag') ?? '';
const rename = (ifMatch: string, name: string, headers = {}) =>
  call('PATCH', networkPath(), { body: { name }, headers: { 'if-match': ifMatch, ...headers } });
const nameOf = async () => (await call('GET', networkPath())).body.name;

/** The path of a route as `call` takes it, without the version. */
const short = ({ path }: { path: string }) => path.replace('/v0.1', '');
const itemOf = ({ method, path }: Operation) => DOCUMENT.paths[path]?.[method.toLowerCase()];
const hasEtag = (operation: Operation) =>
  'ETag' in ((itemOf(operation)?.responses['200'] as { headers?: object })?.headers ?? {});
const acceptsIfMatch = (operation: Operation) =>
  itemOf(operation)?.parameters?.some(({ name }) => name === 'If-Match') ?? false;

const singles = OPERATIONS.filter(({ method, path }) => method === 'GET' && path.endsWith('}'));
const gets = singles.filter(hasEtag).map((get) => [get.id, get] as const);
const writes = OPERATIONS.filter(acceptsIfMatch).map((write) => [write.id, write] as const);
const readerOf = (write: Operation) =>
  singles
    .filter(({ path }) => write.path.startsWith(path))
    .sort((a, b) => b.path.length - a.path.length)[0];

describe('an ETag', () => {
  it('belongs to every GET at a path that has a PATCH, PUT or DELETE, which accept If-Match', () => {
    const isUpdated = ({ path }: Operation) => singles.some((get) => get.path === path);
    const updates = OPERATIONS.filter(({ method }) => /PATCH|PUT|DELETE/.test(method)).filter(
      isUpdated,
    );
    expect(updates.length).toBeGreaterThan(10);
    expect(updates.filter((update) => !acceptsIfMatch(update))).toEqual([]);
    const paths = new Set(updates.map(({ path }) => path));
    expect(singles.filter((get) => paths.has(get.path) && !hasEtag(get))).toEqual([]);
  });

  it.each(gets)('of %s is strong, and the same until the resource changes', async (_, get) => {
    const path = filled(short(get));
    const [first, again] = [await etagAt(path), await etagAt(path)];
    expect(first).toMatch(/^"[\w-]{27}"$/);
    expect(again).toBe(first);
  });

  it('changes with the resource', async () => {
    const before = await etagAt(networkPath());
    await call('PATCH', networkPath(), { body: { name: 'changed' } });
    expect(await etagAt(networkPath())).not.toBe(before);
  });

  it('of an update that returns the resource is the one that a GET then has', async () => {
    const { headers } = await call('PATCH', networkPath(), { body: { name: 'tagged' } });
    expect(headers.get('etag')).toBe(await etagAt(networkPath()));
  });
});

describe('a write with If-Match', () => {
  it.each(writes)('%s is 412 with another ETag and changes nothing', async (id, write) => {
    const before = await snapshot(api, estate);
    const { body } = EXAMPLES[id]?.(estate) ?? {};
    const reply = await call(write.method, filled(short(write)), {
      ...(body === undefined ? {} : { body }),
      headers: { 'if-match': '"of-an-earlier-state"' },
    });
    expect([reply.status, reply.body.code]).toEqual([412, 'precondition_failed']);
    const etag = await etagAt(filled(short(readerOf(write) ?? write)));
    expect(reply.body.details).toEqual({ etag });
    expect(await snapshot(api, estate)).toBe(before);
  });

  it('succeeds once with an ETag, and with "*" as long as the resource exists', async () => {
    const etag = await etagAt(networkPath());
    expect((await rename(`"other", ${etag}`, 'first')).status).toBe(200);
    expect((await rename(etag, 'second')).status).toBe(412);
    expect(await nameOf()).toBe('first');
    expect((await rename('*', 'third')).status).toBe(200);
    const gone = networkPath().replace(ids['network_id'] ?? '', newId());
    const headers = { 'if-match': '*' };
    expect((await call('PATCH', gone, { body: { name: 'x' }, headers })).status).toBe(404);
  });

  it('gets its first reply again if it is repeated with its Idempotency-Key', async () => {
    const etag = await etagAt(networkPath());
    const key = { 'idempotency-key': newId() };
    const first = await rename(etag, 'repeated', key);
    expect(first.status).toBe(200);
    expect((await rename(etag, 'repeated', key)).body).toEqual(first.body);
  });

  it('never waits for a connection that another one holds', async () => {
    const renames = Array.from({ length: 60 }, (_, n) => rename('*', `at-once-${n}`));
    const statuses = (await Promise.all(renames)).map(({ status }) => status);
    expect(statuses).toEqual(statuses.map(() => 200));
  });

  it.each(['plain', '"open', 'W/', '"a" "b"', ''])(
    'is 400 if the header is: %s',
    async (header) => {
      const reply = await rename(header, 'never');
      expect([reply.status, reply.body.details?.[0].field]).toEqual([400, 'If-Match']);
    },
  );

  it('is 400 if nothing at the path has an ETag, and a weak ETag never matches', async () => {
    const body = { name: 'other', cidr: '10.99.0.0/16' };
    const path = filled('/projects/{project_id}/vpc/networks');
    const created = await call('POST', path, { body, headers: { 'if-match': '*' } });
    expect(created.body.details?.[0].field).toBe('If-Match');
    expect((await rename(`W/${await etagAt(networkPath())}`, 'never')).status).toBe(412);
  });

  it.each([
    ['a change', 'PATCH', { name: 'mine' }],
    ['a deletion', 'DELETE', undefined],
  ])('is 412 if the resource changes after %s has begun', async (_, method, body) => {
    const name = `raced-${method.toLowerCase()}`;
    const path = filled('/projects/{project_id}/vpc/networks');
    const block = method === 'PATCH' ? '10.101.0.0/16' : '10.102.0.0/16';
    const { id } = (await call('POST', path, { body: { name, cidr: block } })).body;
    const headers = { 'if-match': await etagAt(`${path}/${id}`) };
    const { waiting } = await api.sql.begin(async (tx) => {
      await tx`update networks set name = ${`${name}-other`} where id = ${id}`;
      // It finds the ETag that it expects, and then waits for the lock.
      const started = call(method, `${path}/${id}`, body ? { body, headers } : { headers });
      await expect
        .poll(
          () => api.sql`select from pg_stat_activity
            where datname = current_database() and wait_event_type = 'Lock'`,
          { timeout: 30_000 },
        )
        .toHaveLength(1);
      return { waiting: started };
    });
    expect((await waiting).status).toBe(412);
    expect((await call('GET', `${path}/${id}`)).body.name).toBe(`${name}-other`);
  });
});
