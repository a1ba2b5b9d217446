import { readFileSync } from 'node:fs';
import path from 'node:path';
import { LOCATION } from '@gantry/testkit/make/request-bodies';
import { SSH_PUBLIC_KEY as KEY } from '@gantry/testkit/make/tenants';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Fields, membersOf, startWorld, TIMESTAMP, UUID, type World } from './support.ts';

let world: World;
let specs: Fields[];
let types: Fields[];
let images: Fields[];
let availabilities: Fields[];

beforeAll(async () => {
  world = await startWorld();
  const { get, operator, P } = world;
  // The rows that a placer writes for a location with one free A40; no other location has a free
  // GPU.
  await world.api.sql`insert into availabilities (location, vm_type, available)
    values (${LOCATION}, 'a40.1x', true), (${LOCATION}, 'a40.2x', false)`;
  specs = (await get(`${P}/specs`)).body.items;
  types = (await operator.get('/admin/vm-types')).body.items;
  images = (await get(`${P}/images`)).body.items;
  availabilities = (await get(`${P}/availabilities`)).body.items;
});
afterAll(() => world.api.stop());

describe('docs/contract/catalogue.md#vm-types', () => {
  const page = readFileSync(path.resolve(import.meta.dirname, '../../docs/contract/catalogue.md'));
  const rows = page
    .toString()
    .split('\n')
    .filter((line) => /^\| [a-z0-9-]+\.\d+x /.test(line));
  const cellsOf = (row: string) =>
    row
      .split('|')
      .map((cell) => cell.trim())
      .slice(1, -1);

  for (const row of rows) {
    const [type] = cellsOf(row);
    it(`${type} has the documented cores, GPUs, memory, drives and network`, () => {
      const [, cores, gpus = '', memory, disk = '', network] = cellsOf(row);
      const [gpuCount, gpuType] = gpus.split(' x ');
      const [drives, driveGb] = disk.startsWith('none') ? [0, 0] : disk.split(/ x |GB/).map(Number);
      const diskGb = Number(drives) * Number(driveGb);
      expect(specs.find(({ product_name }) => product_name === type)).toMatchObject({
        ...{ cpu_cores: Number(cores), memory_gb: Number(memory), disk_gb: diskGb },
        ...{ disk_type: drives ? 'NVMe' : 'N/A', num_gpu: Number(gpuCount), gpu_type: gpuType },
      });
      // Only operators see the number of drives and the network, because they build hosts for them.
      expect(types.find(({ name }) => name === type)).toMatchObject({
        ...{ disk_count: drives, network_gbps: Number(network) },
      });
    });
  }

  it('the catalogue has these types and no others', async () => {
    const names = rows.map((row) => cellsOf(row)[0]);
    expect(specs.map(({ product_name }) => product_name)).toEqual(names);
    expect([...new Set(availabilities.map(({ type }) => type))]).toEqual(names);
  });
});

describe('docs/contract/catalogue.md#availability', () => {
  it('an item has the documented fields and no others', () => {
    for (const item of availabilities) {
      expect(membersOf(item)).toEqual([
        ...['available', 'count', 'location', 'priced', 'reason', 'type', 'usd_per_hour'],
      ]);
    }
  });
  it('type is a VM type', () => {
    const known = new Set(specs.map(({ product_name }) => product_name));
    for (const { type } of availabilities) expect(known).toContain(type);
  });
  it('location is a location, <region>-<zone>', async () => {
    const { items } = (await world.get('/locations')).body;
    const known = items.map(({ region, zone }: Fields) => `${region}-${zone}`);
    expect([...new Set(availabilities.map(({ location }) => location))].sort()).toEqual(
      known.sort(),
    );
  });
  it('available is a boolean', () => {
    const free = availabilities.filter(({ available }) => available === true);
    expect(free).toMatchObject([{ type: 'a40.1x', location: LOCATION, count: 1, reason: '' }]);
    const taken = availabilities.filter(({ available }) => available === false);
    expect(free.length + taken.length).toBe(availabilities.length);
    for (const { count, reason } of taken) expect([count, reason !== '']).toEqual([0, true]);
  });
});

describe('docs/contract/catalogue.md#spec', () => {
  const all = (check: (spec: Fields) => void) => {
    expect(specs).toHaveLength(17);
    for (const spec of specs) check(spec);
  };
  const text = (field: string) => all((spec) => expect(spec[field]).toMatch(/./));
  const integer = (field: string, least: number) =>
    all((spec) => {
      expect(Number.isInteger(spec[field]), JSON.stringify(spec)).toBe(true);
      expect(spec[field]).toBeGreaterThanOrEqual(least);
    });

  it('an item has the documented fields and no others', () =>
    all((spec) =>
      expect(membersOf(spec)).toEqual(
        [
          ...['product_name', 'description', 'cpu_cores', 'cpu_type', 'memory_gb', 'memory_type'],
          ...['disk_gb', 'disk_type', 'num_gpu', 'gpu_type'],
        ].sort(),
      ),
    ));
  it('product_name is a string', () =>
    all(({ product_name }) => expect(product_name).toMatch(/^[a-z0-9-]+\.\d+x$/)));
  it('description is a string', () => text('description'));
  it('cpu_cores is an integer', () => integer('cpu_cores', 1));
  it('cpu_type is a string', () => text('cpu_type'));
  it('memory_gb is an integer', () => integer('memory_gb', 1));
  it('memory_type is a string', () => text('memory_type'));
  it('disk_gb is an integer', () => integer('disk_gb', 0));
  it('disk_type is a string', () => text('disk_type'));
  it('num_gpu is an integer', () => integer('num_gpu', 1));
  it('gpu_type is a string', () => text('gpu_type'));
});

describe('docs/contract/catalogue.md#images', () => {
  const all = (check: (image: Fields) => void) => {
    expect(images).not.toEqual([]);
    for (const image of images) check(image);
  };

  it('an item has the documented fields and no others', () =>
    all((image) =>
      expect(membersOf(image)).toEqual(
        [
          ...['id', 'name', 'description', 'tags', 'created_at', 'locations'],
          ...['project_id', 'visibility', 'state', 'size', 'problem'],
        ].sort(),
      ),
    ));
  it('an image of the catalogue is public, ready and of no project', () =>
    all((image) =>
      expect(image).toMatchObject({
        ...{ project_id: '', visibility: 'public', state: 'ready', size: '', problem: '' },
      }),
    ));
  it('id is a UUID', () => all(({ id }) => expect(id).toMatch(UUID)));
  it('name is the value of image in the creation of a VM', async () => {
    for (const { name } of images) {
      const { post, P } = world;
      const vm = { name: `of-${name}`, type: 'a40.1x', location: LOCATION, image: name };
      const { status } = await post(`${P}/vms`, { ...vm, ssh_public_key: KEY });
      expect(status).toBe(200);
    }
  });
  it('description is a string', () =>
    all(({ description }) => expect(description).toBeTypeOf('string')));
  it('tags is an array of strings', () =>
    all(({ tags }) => expect(tags).toEqual([expect.any(String), expect.any(String)])));
  it('created_at is a timestamp', () =>
    all(({ created_at }) => expect(created_at).toMatch(TIMESTAMP)));
  it('locations has the locations that can use the image', async () => {
    const { operator, get, post, P } = world;
    const body = { name: 'only-there', locations: ['us-east-a'] };
    expect((await operator.post('/admin/images', body)).status).toBe(200);
    const { items } = (await get(`${P}/images`)).body;
    const image = items.find(({ name }: Fields) => name === 'only-there');
    expect(image.locations).toEqual(['us-east-a']);
    const create = (location: string) =>
      post(`${P}/vms`, {
        ...{ name: `in-${location}`, type: 'a40.1x', location, image: 'only-there' },
        ssh_public_key: KEY,
      });
    expect((await create('us-east-a')).status).toBe(200);
    expect((await create(LOCATION)).body.code).toBe('unknown_image');
  });
});

describe('docs/contract/catalogue.md: endpoints', () => {
  it('availabilities are filtered by product_name and location', async () => {
    const { get, P } = world;
    const list = async (query: string): Promise<Fields[]> => {
      const { status, body } = await get(`${P}/availabilities${query}`);
      expect(status).toBe(200);
      expect(membersOf(body)).toEqual(['items']);
      return body.items;
    };
    expect(await list('')).toHaveLength(34);
    const ofType = await list('?product_name=a100.2x');
    expect(ofType.map(({ type }) => type)).toEqual(['a100.2x', 'a100.2x']);
    const there = await list(`?location=${LOCATION}`);
    expect(there).toHaveLength(17);
    expect(new Set(there.map(({ location }) => location))).toEqual(new Set([LOCATION]));
    expect(await list(`?product_name=a40.1x&location=${LOCATION}`)).toHaveLength(1);
    expect(await list('?product_name=no-such-type')).toEqual([]);
  });
  it('specs are listed as items', async () => {
    const { status, body } = await world.get(`${world.P}/specs`);
    expect({ status, body }).toEqual({ status: 200, body: { items: specs } });
  });
  it('images are listed as items', async () => {
    const { status, body } = await world.get(`${world.P}/images`);
    expect(status).toBe(200);
    expect(membersOf(body)).toEqual(['items', 'next_page_token']);
    expect(body.items).toEqual(expect.arrayContaining(images));
  });
});
