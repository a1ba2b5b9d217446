import {
  refusal,
  type ScriptEntry,
  type ScriptedServer,
  startScriptedServer,
} from '@gantry/sdk/testing/scripted-server';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeTestCli, type TestCli } from '../testing/run-cli.ts';
import { renderEvent } from './events.ts';

let cli: TestCli;
let server: ScriptedServer;
let replies: Record<string, ScriptEntry>;
const items = (...list: unknown[]) => ({ status: 200, body: { items: list } });

beforeEach(async () => {
  cli = await makeTestCli();
  replies = { 'GET /v0.1': { status: 200, body: { project_id: 'p' } } };
  server = await startScriptedServer(
    ({ line }) => replies[line.replace('/projects/p', '')] ?? refusal(404, 'not_found'),
  );
});
afterEach(async () => {
  await server.stop();
  await cli.remove();
});

const run = (...args: string[]) =>
  cli.run(args, { env: { GANTRY_URL: server.url, GANTRY_ACCESS_KEY: 'gantry_ak_test' } });

describe('availability', () => {
  const spec = { product_name: 'a40.1x', num_gpu: 1, gpu_type: 'A40', cpu_cores: 6, memory_gb: 60 };
  const row = {
    ...{ type: 'a40.1x', location: 'eu', available: true, count: 7, reason: '' },
    ...{ usd_per_hour: 0.5, priced: true },
  };

  it('shows how many VMs fit, what one costs and what a type has, and takes filters', async () => {
    replies['GET /v0.1/specs'] = items(spec);
    replies['GET /v0.1/availabilities?product_name=a40.1x&location=eu'] = items(row);
    const { stdout } = await run('availability', '--type', 'a40.1x', '--location', 'eu');
    expect(stdout).toBe(
      [
        'TYPE    LOCATION  AVAILABLE  USD/HOUR  GPUS     CORES  MEMORY',
        'a40.1x  eu        7          0.50      1 x A40  6      60 GB',
        '',
      ].join('\n'),
    );
  });

  it('shows the reason if none fits, and the limit of the count', async () => {
    const none = {
      available: false,
      count: 0,
      reason: 'all GPUs are in use',
      usd_per_hour: 0,
      priced: false,
    };
    const many = { ...row, location: 'us', count: 100, usd_per_hour: 1.2345 };
    replies['GET /v0.1/specs'] = items(spec);
    replies['GET /v0.1/availabilities'] = items({ ...row, ...none }, many);
    const { stdout } = await run('availability');
    expect(stdout).toMatch(/\na40\.1x +eu +0 +no price +1 x A40 +6 +60 GB +all GPUs are in use\n/);
    expect(stdout).toMatch(/\na40\.1x +us +100 or more +1\.2345 /);
  });
});

it('images are listed with their locations', async () => {
  const image = {
    ...{ name: 'debian-12', locations: ['eu', 'us'], description: 'Debian' },
    ...{ visibility: 'public', state: 'ready', size: '', problem: '' },
  };
  replies['GET /v0.1/images'] = items(image);
  expect((await run('image', 'list')).stdout).toContain('debian-12  eu us      public      ready');
});

describe('an image of the project', () => {
  const image = {
    ...{ id: 'i1', name: 'golden', project_id: 'p1', locations: ['eu'], size: '10GiB' },
    ...{ visibility: 'organization', state: 'ready' },
  };
  const operation = {
    ...{ operation_id: 'o1', state: 'SUCCEEDED', result: image },
    metadata: { operation_name: 'CREATE', id: 'i1', type: 'image', request: {} },
  };

  it('is made of a snapshot that is named', async () => {
    replies['GET /v0.1/snapshots'] = items({ id: 's1', name: 'before' });
    replies['POST /v0.1/images'] = { status: 200, body: { operation } };
    const { code, stdout } = await run(
      ...(['image', 'create', 'golden', '--snapshot', 'before', '--organization'] as const),
    );
    expect(code).toBe(0);
    expect(stdout).toContain('golden');
    expect(JSON.parse(server.seen.at(-1)?.body ?? '')).toEqual({
      ...{ name: 'golden', snapshot_id: 's1', description: '', visibility: 'organization' },
    });
  });

  it('is made of a file at a URL', async () => {
    replies['POST /v0.1/images'] = { status: 200, body: { operation } };
    const file = ['--url', 'https://example.com/a', '--sha256', 'abc', '--format', 'qcow2'];
    const { code } = await run(
      ...['image', 'create', 'golden', ...file, '--size', '20GiB', '--location', 'eu'],
    );
    expect(code).toBe(0);
    expect(JSON.parse(server.seen.at(-1)?.body ?? '')).toEqual({
      ...{ name: 'golden', description: '', visibility: 'project', format: 'qcow2' },
      ...{ source_url: 'https://example.com/a', sha256: 'abc', size: '20GiB', location: 'eu' },
    });
  });
});

describe('a disk', () => {
  const disk = {
    id: 'd1',
    name: 'data',
    size: '1TiB',
    state: 'ready',
    vm_ids: [],
    storage: 'network',
    encrypted: false,
  };
  const operation = {
    ...{ operation_id: 'o1', state: 'SUCCEEDED', result: disk },
    metadata: { operation_name: 'CREATE', id: 'd1', type: 'disk', request: {} },
  };

  it('is created as the flags say', async () => {
    replies['POST /v0.1/disks'] = { status: 200, body: { operation } };
    const args = ['--size', '1TiB', '--location', 'eu', '--block-size', '4096'];
    const { code, stdout } = await run('disk', 'create', 'data', ...args, '-o', 'json');
    expect({ code, disk: JSON.parse(stdout) }).toEqual({ code: 0, disk });
    expect(JSON.parse(server.seen.at(-1)?.body ?? '')).toEqual({
      ...{ name: 'data', size: '1TiB', location: 'eu', type: 'persistent-ssd', block_size: 4096 },
    });
  });

  it('is attached to a VM, and detached from the only VM that has it', async () => {
    const attached = { ...operation, result: { id: 'v1' } };
    replies['GET /v0.1/disks'] = items(disk);
    replies['GET /v0.1/vms?names=trainer'] = items({ id: 'v1', name: 'trainer' });
    replies['POST /v0.1/vms/v1/attach-disks'] = { status: 200, body: { operation: attached } };
    replies['POST /v0.1/vms/v1/detach-disks'] = { status: 200, body: { operation: attached } };
    expect((await run('disk', 'attach', 'data', 'trainer', '--read-only')).code).toBe(0);
    expect(JSON.parse(server.seen.at(-1)?.body ?? '')).toEqual({
      attach_disks: [{ disk_id: 'd1', mode: 'read-only' }],
    });
    expect(await run('disk', 'detach', 'data')).toMatchObject({
      ...{ code: 2, stderr: 'gantry: the disk data is attached to no VM\n' },
    });
    replies['GET /v0.1/disks'] = items({ ...disk, vm_ids: ['v1', 'v2'] });
    expect((await run('disk', 'detach', 'data')).code).toBe(2);
    expect((await run('disk', 'detach', 'data', 'trainer')).code).toBe(0);
    expect(JSON.parse(server.seen.at(-1)?.body ?? '')).toEqual({ detach_disks: ['d1'] });
    replies['GET /v0.1/disks'] = items({ ...disk, vm_ids: ['v1'] });
    expect((await run('disk', 'detach', 'data')).code).toBe(0);
  });

  it('is deleted by its name, and the server decides whether it may be', async () => {
    replies['GET /v0.1/disks'] = items(disk);
    replies['DELETE /v0.1/disks/d1'] = refusal(409, 'disk_attached');
    const { code, stderr } = await run('disk', 'delete', 'data');
    expect(code).toBe(5);
    expect(stderr).toContain('code: disk_attached');
    expect((await run('disk', 'delete', 'other')).code).toBe(4);
  });
});

it('a network is shown with its own subnets', async () => {
  const network = {
    id: 'n1',
    name: 'lab',
    cidr: '10.0.0.0/8',
    gateway: '',
    tags: {},
    subnets: ['s1'],
  };
  replies['GET /v0.1/vpc/networks'] = items({ id: 'n2', name: 'x' }, network);
  replies['GET /v0.1/vpc/subnets'] = items(
    { name: 'inner', cidr: '10.1.0.0/16', location: 'eu', vpc_network_id: 'n1' },
    { name: 'foreign', cidr: '10.2.0.0/16', location: 'eu', vpc_network_id: 'n2' },
  );
  const { stdout } = await run('network', 'show', 'lab');
  expect(stdout).toContain('Subnet  inner 10.1.0.0/16 eu\n');
  expect(stdout).not.toContain('foreign');
});

it('an operation is found whatever it is about, and its failure is shown', async () => {
  const metadata = { operation_name: 'CREATE', id: 'd1', type: 'disk', request: {} };
  const result = { code: 'storage_full', message: 'the host is full' };
  const times = { started_at: '2026-01-01', completed_at: '2026-01-02' };
  const body = { operation_id: 'o1', state: 'FAILED', metadata, result, ...times };
  replies['GET /v0.1/disks/operations/o1'] = { status: 200, body };
  const { code, stdout } = await run('operation', 'show', 'o1');
  expect(code).toBe(0);
  expect(stdout).toContain('Message    the host is full\n');
  expect((await run('operation', 'show', 'o2')).code).toBe(4);
});

describe('events', () => {
  it('are listed oldest first', async () => {
    const event = { type: 'vm_crashed', message: 'it ended', resource_id: 'v1' };
    replies['GET /v0.1/events'] = items(
      { ...event, created_at: '2026-01-02' },
      { ...event, created_at: '2026-01-01' },
    );
    const { stdout } = await run('events', '-o', 'json');
    const times = JSON.parse(stdout).map((each: { created_at: string }) => each.created_at);
    expect(times).toEqual(['2026-01-01', '2026-01-02']);
    expect((await run('events', '--after', '1')).code).toBe(2);
  });

  const created_at = '2026-03-01T10:00:00.000Z';
  it.each([
    ['vm', { name: 'a', state: 'STATE_RUNNING', deleted: false }, 'vm         a running'],
    ['vm', { name: 'a', state: 'STATE_DELETING', deleted: true }, 'vm         a deleted'],
    [
      'operation',
      { operation_name: 'CREATE', resource_type: 'vm', resource_id: 'v', step: 'placed', code: '' },
      'operation  create vm v: placed',
    ],
    [
      'operation',
      {
        ...{ operation_name: 'CREATE', resource_type: 'vm', resource_id: 'v', step: 'ended' },
        ...{ state: 'FAILED', code: 'out_of_stock', message: 'no room' },
      },
      'operation  create vm v: failed (out_of_stock: no room)',
    ],
    [
      'event',
      { type: 'vm_crashed', message: 'it\u001bended' },
      'event      vm_crashed: it\ufffdended',
    ],
  ])('of the type %s are a line for people', (type, data, line) => {
    const event = { id: '1', type, data: { ...data, created_at } };
    expect(renderEvent(event, 'table')).toBe(`${created_at}  ${line}\n`);
    expect(JSON.parse(renderEvent(event, 'json'))).toEqual(event);
  });

  it('about the stream itself are for programs only', () => {
    const event = { id: '1', type: 'ready', data: {} };
    expect(renderEvent(event, 'table')).toBe('');
    expect(renderEvent(event, 'json')).toBe('{"id":"1","type":"ready","data":{}}\n');
    expect(renderEvent(event, 'yaml')).toBe('---\nid: "1"\ntype: ready\ndata: {}\n');
  });
});
