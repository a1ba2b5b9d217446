import { finishDisk, finishRule, finishVm } from '@gantry/testkit/make/finished';
import { diskBody, LOCATION, newName, ruleBody, vmBody } from '@gantry/testkit/make/request-bodies';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  clientOf,
  defaultNetworkOf,
  expectFieldRefused,
  expectRefusal,
  type Fields,
  makeVm,
  membersOf,
  NOBODY,
  OTHER_LOCATION,
  operationOf,
  startWorld,
  TIMESTAMP,
  UUID,
  type World,
} from './support.ts';

let world: World;
let P: string;

beforeAll(async () => {
  world = await startWorld({ trustedProxies: 1 });
  ({ P } = world);
});
afterAll(() => world.api.stop());

const read = async (path: string) => (await world.get(path)).body;
const namesOf = (items: Fields[]) => items.map(({ name }) => name);

describe('docs/contract: endpoints and their replies', () => {
  it('the root shows who the caller is and what is there', async () => {
    const byKey = await read('');
    const byToken = (await world.owner.get('')).body;
    for (const body of [byKey, byToken]) {
      expect(membersOf(body)).toEqual(['links', 'name', 'project_id', 'user', 'version']);
      expect(body).toMatchObject({ name: expect.stringMatching(/./), version: 'v0.1' });
      for (const link of Object.values<string>(body.links)) {
        if (!link.startsWith('/v0.1')) continue;
        expect((await world.get(link.slice('/v0.1'.length))).status).toBe(200);
      }
    }
    expect(byKey.project_id).toBe(world.tenant.projectId);
    expect(byToken.project_id).toBe('');
    expect(byToken.user).toMatchObject({
      id: world.tenant.owner.id,
      email: world.tenant.owner.email,
    });
    expect(JSON.stringify(byKey.user)).not.toContain('@');
  });

  it('locations have the names that location means everywhere else', async () => {
    const body = await read('/locations');
    expect(membersOf(body)).toEqual(['items']);
    for (const location of body.items) {
      expect(membersOf(location)).toEqual(['description', 'name', 'region', 'zone']);
      for (const value of Object.values(location)) expect(value).toBeTypeOf('string');
    }
    expect(namesOf(body.items)).toEqual([LOCATION, OTHER_LOCATION]);
    for (const location of namesOf(body.items)) {
      const vm = await read(`${P}/vms/${await makeVm(world, { location })}`);
      expect(vm.location).toBe(location);
    }
  });

  it('operations are listed in pages and filtered by resource_id and state', async () => {
    const { sql } = world.api;
    const networkId = await defaultNetworkOf(world);
    for (const { path, body, finish } of [
      { path: 'vms', body: vmBody, finish: (id: string) => finishVm(sql, id, 'running') },
      { path: 'disks', body: diskBody, finish: (id: string) => finishDisk(sql, id) },
      {
        ...{ path: 'vpc/firewall-rules', body: () => ruleBody(networkId) },
        finish: (id: string) => finishRule(sql, id),
      },
    ]) {
      const create = async () => operationOf(await world.post(`${P}/${path}`, body()));
      const [done, open] = [await create(), await create()];
      await finish(done.metadata.id);
      const list = (query: string) => read(`${P}/${path}/operations${query}`);
      const idsOf = async (query: string) =>
        (await list(query)).items.map(({ operation_id }: Fields) => operation_id);

      expect(membersOf(await list(''))).toEqual(['items', 'next_page_token']);
      expect((await list('')).items).toContainEqual(open);
      expect(await idsOf(`?resource_id=${open.metadata.id}`)).toEqual([open.operation_id]);
      expect(await idsOf('?state=IN_PROGRESS')).toContain(open.operation_id);
      expect(await idsOf('?state=IN_PROGRESS')).not.toContain(done.operation_id);
      expect(await idsOf('?state=SUCCEEDED')).toContain(done.operation_id);
      expect(await idsOf('?state=SUCCEEDED')).not.toContain(open.operation_id);
      const page = await list('?limit=1');
      expect(page.items).toHaveLength(1);
      const [next] = (await list(`?limit=1&page_token=${page.next_page_token}`)).items;
      expect(next.operation_id).not.toBe(page.items[0].operation_id);
      expectFieldRefused(await world.get(`${P}/${path}/operations?state=DONE`), 'state');
    }
    const kinds = async (path: string) =>
      new Set(
        (await read(`${P}/${path}/operations`)).items.map(
          (op: { metadata: Fields }) => op.metadata['type'],
        ),
      );
    expect(await kinds('vms')).toEqual(new Set(['vm']));
    expect(await kinds('disks')).toEqual(new Set(['disk']));
    expect(await kinds('vpc/firewall-rules')).toEqual(new Set(['vpc-firewall-rule']));
  });

  it('quotas have type, max, used and available', async () => {
    const quotas = async (): Promise<Fields[]> => {
      const body = await read(`${P}/quotas`);
      expect(membersOf(body)).toEqual(['quotas']);
      return body.quotas;
    };
    const gpus = async () => (await quotas()).find(({ type }) => type === 'gpus');
    for (const quota of await quotas()) {
      expect(membersOf(quota)).toEqual(['available', 'max', 'type', 'used']);
      expect(quota['available']).toBe(Number(quota['max']) - Number(quota['used']));
    }
    const before = await gpus();
    operationOf(await world.post(`${P}/vms`, vmBody({ type: 'a40.4x' })));
    expect((await gpus())?.['used']).toBe(Number(before?.['used']) + 4);
  });

  it('access keys are listed without secrets, and a new one shows its secret once', async () => {
    const keys = `${P}/access-keys`;
    const expires_at = new Date(Date.now() + 86_400_000).toISOString();
    const { status, body: key } = await world.post(keys, { name: newName(), expires_at });
    expect(status).toBe(200);
    expect(key).toMatchObject({
      ...{ id: expect.stringMatching(UUID), name: expect.any(String), expires_at },
      ...{ access_key: expect.any(String), created_at: expect.stringMatching(TIMESTAMP) },
    });
    const { get } = clientOf(world.api, key.access_key);
    expect((await get(`${P}/vms`)).status).toBe(200);
    const list = await read(keys);
    const { access_key, ...shown } = key;
    expect(list.items).toContainEqual(shown);
    expect(JSON.stringify(list)).not.toContain(access_key);
    expect((await world.post(keys, { name: newName() })).body.expires_at).toBe('');
    expect((await world.delete(`${keys}/${key.id}`)).status).toBe(200);
    expectRefusal(await get(`${P}/vms`), 401, 'bad_credential');
    expectRefusal(await world.delete(`${keys}/${key.id}`), 404, 'not_found');
  });

  it('the endpoints under /v0.1/admin need the operator role', async () => {
    const { body: document } = await world.get('/openapi.json');
    const paths = Object.entries<Fields>(document.paths).filter(([path]) =>
      path.startsWith('/v0.1/admin/'),
    );
    expect(paths.length).toBeGreaterThan(10);
    for (const [path, item] of paths) {
      for (const method of Object.keys(item)) {
        const url = path.slice('/v0.1'.length).replaceAll(/\{\w+\}/g, NOBODY);
        for (const bearer of [world.tenant.accessKey, world.tenant.owner.token]) {
          const body = method === 'get' ? {} : { body: {} };
          const reply = await world.api.call(method.toUpperCase(), url, { bearer, ...body });
          expect([method, path, reply.status]).toEqual([method, path, 403]);
        }
      }
    }
    for (const path of ['images', 'locations', 'prices', 'organizations', 'users']) {
      const { status, body } = await world.operator.get(`/admin/${path}`);
      expect([path, status]).toEqual([path, 200]);
      expect(body.items).toBeInstanceOf(Array);
    }
    expect((await world.operator.get(`/admin${P}/quotas`)).status).toBe(200);
  });
});
