import { SSH_PUBLIC_KEY as KEY } from '@gantry/api/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Fields,
  LOCATION,
  membersOf,
  startWorld,
  TIMESTAMP,
  UUID,
  type World,
} from './support.ts';

let world: World;
let specs: Fields[];
let types: Fields[];
let images: Fields[];
let availabilities: Fields[];

beforeAll(async () => {
  world = await startWorld();
  const { get, operator, P } = world;
  // What a placer would write of a location with one free A40, and of nothing else anywhere.
  await world.api.sql`insert into availabilities (location, vm_type, available)
    values (${LOCATION}, 'a40.1x', true), (${LOCATION}, 'a40.2x', false)`;
  specs = (await get(`${P}/specs`)).body.items;
  types = (await operator.get('/admin/vm-types')).body.items;
  images = (await get(`${P}/images`)).body.items;
  availabilities = (await get(`${P}/availabilities`)).body.items;
});
afterAll(() => world.api.stop());

describe('VM type catalogue', () => {
  const rows = [
    '| a40.1x | 6 | 1 x A40 48GB PCIe | 60 | 1 x 960GB NVMe | 25 |',
    '| a40.2x | 12 | 2 x A40 48GB PCIe | 120 | 2 x 960GB NVMe | 50 |',
    '| a40.4x | 24 | 4 x A40 48GB PCIe | 240 | 4 x 960GB NVMe | 100 |',
    '| a40.8x | 48 | 8 x A40 48GB PCIe | 480 | 8 x 960GB NVMe | 200 |',
    '| a100.1x | 12 | 1 x A100 40GB PCIe | 120 | 1 x 960GB NVMe | 25 |',
    '| a100.2x | 24 | 2 x A100 40GB PCIe | 240 | 2 x 960GB NVMe | 50 |',
    '| a100.4x | 48 | 4 x A100 40GB PCIe | 480 | 4 x 960GB NVMe | 100 |',
    '| a100.8x | 96 | 8 x A100 40GB PCIe | 960 | 8 x 960GB NVMe | 200 |',
    '| a100-80gb.1x | 12 | 1 x A100 80GB PCIe | 120 | 1 x 960GB NVMe | 25 |',
    '| a100-80gb.2x | 24 | 2 x A100 80GB PCIe | 240 | 2 x 960GB NVMe | 50 |',
    '| a100-80gb.4x | 48 | 4 x A100 80GB PCIe | 480 | 4 x 960GB NVMe | 100 |',
    '| a100-80gb.8x | 96 | 8 x A100 80GB PCIe | 960 | 8 x 960GB NVMe | 200 |',
    '| l40s-48gb.1x | 8 | 1 x L40S 48GB PCIe | 147 | none (N/A) | 20 |',
    '| l40s-48gb.2x | 16 | 2 x L40S 48GB PCIe | 294 | none (N/A) | 40 |',
    '| l40s-48gb.4x | 32 | 4 x L40S 48GB PCIe | 588 | none (N/A) | 80 |',
    '| l40s-48gb.8x | 64 | 8 x L40S 48GB PCIe | 1176 | none (N/A) | 160 |',
    '| l40s-48gb.10x | 80 | 10 x L40S 48GB PCIe | 1470 | none (N/A) | 200 |',
  ];
  const cellsOf = (row: string) =>
    row
      .split('|')
      .map((cell) => cell.trim())
      .slice(1, -1);

  for (const row of rows) {
    it(row, () => {
      const [type, cores, gpus = '', memory, disk = '', network] = cellsOf(row);
      const [gpuCount, gpuType] = gpus.split(' x ');
      const [drives, driveGb] = disk.startsWith('none') ? [0, 0] : disk.split(/ x |GB/).map(Number);
      const diskGb = Number(drives) * Number(driveGb);
      expect(specs.find(({ product_name }) => product_name === type)).toMatchObject({
        ...{ cpu_cores: Number(cores), memory_gb: Number(memory), disk_gb: diskGb },
        ...{ disk_type: drives ? 'NVMe' : 'N/A', num_gpu: Number(gpuCount), gpu_type: gpuType },
      });
      // The drives' number and the network are told to operators, who must build hosts for them.
      expect(types.find(({ name }) => name === type)).toMatchObject({
        ...{ disk_count: drives, network_gbps: Number(network) },
      });
    });
  }

  it('The `type` of a VM is one of the following identifiers.', async () => {
    const names = rows.map((row) => cellsOf(row)[0]);
    expect(specs.map(({ product_name }) => product_name)).toEqual(names);
    expect([...new Set(availabilities.map(({ type }) => type))]).toEqual(names);
  });
});

describe('Availability item', () => {
  it('has the fields of the table and no others', () => {
    for (const item of availabilities) {
      expect(membersOf(item)).toEqual(['available', 'location', 'type']);
    }
  });
  it('| type | string | a VM type identifier |', () => {
    const known = new Set(specs.map(({ product_name }) => product_name));
    for (const { type } of availabilities) expect(known).toContain(type);
  });
  it('| location | string | location identifier, e.g. of the form <region>-<zone> |', async () => {
    const { items } = (await world.get('/locations')).body;
    const known = items.map(({ region, zone }: Fields) => `${region}-${zone}`);
    expect([...new Set(availabilities.map(({ location }) => location))].sort()).toEqual(
      known.sort(),
    );
  });
  it('| available | boolean | |', () => {
    const free = availabilities.filter(({ available }) => available === true);
    expect(free).toEqual([{ type: 'a40.1x', location: LOCATION, available: true }]);
    const taken = availabilities.filter(({ available }) => available === false);
    expect(free.length + taken.length).toBe(availabilities.length);
  });
});

describe('Spec item', () => {
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

  it('has the fields of the table and no others', () =>
    all((spec) =>
      expect(membersOf(spec)).toEqual(
        [
          ...['product_name', 'description', 'cpu_cores', 'cpu_type', 'memory_gb', 'memory_type'],
          ...['disk_gb', 'disk_type', 'num_gpu', 'gpu_type'],
        ].sort(),
      ),
    ));
  it('| product_name | string (a VM type identifier) |', () =>
    all(({ product_name }) => expect(product_name).toMatch(/^[a-z0-9-]+\.\d+x$/)));
  it('| description | string |', () => text('description'));
  it('| cpu_cores | integer |', () => integer('cpu_cores', 1));
  it('| cpu_type | string |', () => text('cpu_type'));
  it('| memory_gb | integer |', () => integer('memory_gb', 1));
  it('| memory_type | string |', () => text('memory_type'));
  it('| disk_gb | integer |', () => integer('disk_gb', 0));
  it('| disk_type | string |', () => text('disk_type'));
  it('| num_gpu | integer |', () => integer('num_gpu', 1));
  it('| gpu_type | string |', () => text('gpu_type'));
});

describe('Image', () => {
  const all = (check: (image: Fields) => void) => {
    expect(images).not.toEqual([]);
    for (const image of images) check(image);
  };

  it('has the fields of the table and no others', () =>
    all((image) =>
      expect(membersOf(image)).toEqual(
        ['id', 'name', 'description', 'tags', 'created_at', 'locations'].sort(),
      ),
    ));
  it('| id | string (uuid) | |', () => all(({ id }) => expect(id).toMatch(UUID)));
  it('| name | string | the value passed as `image` when creating a VM |', async () => {
    for (const { name } of images) {
      const { post, P } = world;
      const vm = { name: `of-${name}`, type: 'a40.1x', location: LOCATION, image: name };
      const { status } = await post(`${P}/vms`, { ...vm, ssh_public_key: KEY });
      expect(status).toBe(200);
    }
  });
  it('| description | string | |', () =>
    all(({ description }) => expect(description).toBeTypeOf('string')));
  it('| tags | array of string | |', () =>
    all(({ tags }) => expect(tags).toEqual([expect.any(String), expect.any(String)])));
  it('| created_at | string (timestamp) | |', () =>
    all(({ created_at }) => expect(created_at).toMatch(TIMESTAMP)));
  it('| locations | array of string | locations where the image can be used |', async () => {
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

describe('Endpoints', () => {
  it('GET /v0.1/projects/{project_id}/availabilities. Query parameters: product_name (string, a VM type), location (string). Response: object with `items`, an array of Availability item.', async () => {
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
  it('GET /v0.1/projects/{project_id}/specs. Response: object with `items`, an array of Spec item.', async () => {
    const { status, body } = await world.get(`${world.P}/specs`);
    expect({ status, body }).toEqual({ status: 200, body: { items: specs } });
  });
  it('GET /v0.1/projects/{project_id}/images. Response: object with `items`, an array of Image.', async () => {
    const { status, body } = await world.get(`${world.P}/images`);
    expect(status).toBe(200);
    expect(membersOf(body)).toEqual(['items']);
    expect(body.items).toEqual(expect.arrayContaining(images));
  });
});
