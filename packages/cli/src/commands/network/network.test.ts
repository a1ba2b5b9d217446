import {
  refusal,
  type ScriptEntry,
  type ScriptedServer,
  startScriptedServer,
} from '@gantry/sdk/testing/scripted-server';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeTestCli, type TestCli } from '../../testing/run-cli.ts';

let cli: TestCli;
let server: ScriptedServer;
let replies: Record<string, ScriptEntry>;
const ok = (body: unknown) => ({ status: 200, body });
const items = (...list: unknown[]) => ok({ items: list });

beforeEach(async () => {
  cli = await makeTestCli();
  replies = {
    'GET /v0.1': ok({ project_id: 'p' }),
    'GET /v0.1/vms?names=trainer': items({ id: 'v1', name: 'trainer' }),
  };
  server = await startScriptedServer(
    ({ line }) => replies[line.replace('/projects/p', '')] ?? refusal(404, 'not_found'),
  );
});
afterEach(async () => {
  await server.stop();
  await cli.remove();
});

const run = (args: string[], options: { typed?: string[] } = {}) =>
  cli.run(args, {
    ...options,
    env: { GANTRY_URL: server.url, GANTRY_ACCESS_KEY: 'gantry_ak_test' },
  });
const last = () => {
  const { line = '', body = '' } = server.seen.at(-1) ?? {};
  return { line: line.replace('/v0.1/projects/p', ''), body: body && JSON.parse(body) };
};

describe('a reserved address', () => {
  const address = {
    ...{ id: 'a1', name: 'front', address: '203.0.113.9', location: 'eu', vm_id: '' },
    ...{ tags: { env: 'prod' }, created_at: '2026-01-01T10:00:00.000Z' },
  };
  const operation = {
    ...{ operation_id: 'o1', state: 'SUCCEEDED', result: { id: 'v1' } },
    metadata: { operation_name: 'UPDATE', id: 'v1', type: 'vm', request: {} },
  };
  beforeEach(() => {
    replies['GET /v0.1/vpc/public-addresses'] = items(address);
  });

  it('is reserved with tags, listed, shown, renamed and released by its name', async () => {
    replies['POST /v0.1/vpc/public-addresses'] = ok(address);
    replies['PATCH /v0.1/vpc/public-addresses/a1'] = ok({ ...address, name: 'back' });
    replies['DELETE /v0.1/vpc/public-addresses/a1'] = ok(address);
    const reserve = ['address', 'reserve', 'front', '--location', 'eu', '--tag', 'env=prod'];
    expect((await run(reserve)).stdout).toContain('Address   203.0.113.9\n');
    expect(last().body).toEqual({ name: 'front', location: 'eu', tags: { env: 'prod' } });
    expect((await run(['address', 'list'])).stdout).toMatch(
      /\nfront +203\.0\.113\.9 +eu +env=prod/,
    );
    expect((await run(['address', 'show', 'a1'])).stdout).toContain('Name      front\n');
    expect((await run(['address', 'rename', 'front', 'back'])).stdout).toContain('back\n');
    expect(last().body).toEqual({ name: 'back' });
    expect((await run(['address', 'release', 'front'], { typed: ['no\r'] })).code).toBe(2);
    expect(last().line).not.toContain('DELETE');
    expect((await run(['address', 'release', 'front', '-y'])).code).toBe(0);
    expect(last().line).toBe('DELETE /vpc/public-addresses/a1');
    expect((await run(['address', 'release', 'other'])).code).toBe(4);
  });

  it('is attached to a VM, and detached from the VM that has it', async () => {
    replies['POST /v0.1/vms/v1/attach-public-address'] = ok({ operation });
    replies['POST /v0.1/vms/v2/detach-public-address'] = ok({ operation });
    expect(await run(['address', 'attach', 'front', 'trainer'])).toMatchObject({
      ...{ code: 0, stderr: 'attach front: succeeded\n' },
    });
    expect(last()).toMatchObject({ body: { address_id: 'a1' } });
    const free = await run(['address', 'detach', 'front']);
    expect(free).toMatchObject({
      code: 2,
      stderr: 'gantry: the address front is attached to no VM\n',
    });
    replies['GET /v0.1/vpc/public-addresses'] = items({ ...address, vm_id: 'v2' });
    expect((await run(['address', 'detach', 'front'])).code).toBe(0);
    expect(last()).toEqual({
      ...{ line: 'POST /vms/v2/detach-public-address', body: { address_id: 'a1' } },
    });
  });

  it('is not released if the server refuses it', async () => {
    replies['DELETE /v0.1/vpc/public-addresses/a1'] = refusal(409, 'conflict');
    expect((await run(['address', 'release', 'front'])).code).toBe(5);
  });
});

describe('a network', () => {
  const network = {
    ...{ id: 'n1', name: 'lab', cidr: '10.0.0.0/16', gateway: '10.0.0.1', subnets: [] },
    tags: { env: 'prod' },
  };
  const subnet = {
    ...{ id: 's1', name: 'inner', cidr: '10.0.1.0/24', location: 'eu', vpc_network_id: 'n1' },
    tags: {},
  };
  beforeEach(() => {
    replies['GET /v0.1/vpc/networks'] = items(network, { ...network, id: 'n2', name: 'other' });
    replies['GET /v0.1/vpc/subnets'] = items(subnet, {
      ...{ ...subnet, id: 's2', name: 'foreign', vpc_network_id: 'n2' },
    });
  });

  it('is created with tags, renamed, and deleted after a confirmation', async () => {
    replies['POST /v0.1/vpc/networks'] = ok(network);
    replies['PATCH /v0.1/vpc/networks/n1'] = ok({ ...network, name: 'home' });
    replies['DELETE /v0.1/vpc/networks/n1'] = ok(network);
    const create = ['network', 'create', 'lab', '--cidr', '10.0.0.0/16', '--tag', 'env=prod'];
    expect((await run(create)).stdout).toContain('Gateway  10.0.0.1\nTags     env=prod\n');
    expect(last().body).toEqual({ name: 'lab', cidr: '10.0.0.0/16', tags: { env: 'prod' } });
    expect((await run(['network', 'rename', 'lab', 'home'])).stdout).toContain('home\n');
    expect(last().body).toEqual({ name: 'home' });
    expect((await run(['network', 'delete', 'lab'], { typed: ['no\r'] })).code).toBe(2);
    expect(last().line).not.toContain('DELETE');
    expect((await run(['network', 'delete', 'lab', '--yes'])).code).toBe(0);
    expect(last().line).toBe('DELETE /vpc/networks/n1');
  });

  it('has subnets, which are listed, created, renamed and deleted by name', async () => {
    replies['POST /v0.1/vpc/subnets'] = ok(subnet);
    replies['PATCH /v0.1/vpc/subnets/s1'] = ok({ ...subnet, name: 'outer' });
    replies['DELETE /v0.1/vpc/subnets/s1'] = ok(subnet);
    const listed = await run(['network', 'subnet', 'list', '--network', 'lab']);
    expect(listed.stdout).toMatch(/\ninner +10\.0\.1\.0\/24 +eu +lab +s1\n$/);
    const place = ['--network', 'lab', '--cidr', '10.0.1.0/24', '--location', 'eu'];
    expect((await run(['network', 'subnet', 'create', 'inner', ...place])).code).toBe(0);
    expect(last().body).toEqual({
      ...{ name: 'inner', cidr: '10.0.1.0/24', location: 'eu', vpc_network_id: 'n1' },
    });
    expect((await run(['network', 'subnet', 'rename', 'inner', 'outer'])).code).toBe(0);
    expect(last().body).toEqual({ name: 'outer' });
    expect((await run(['network', 'subnet', 'delete', 'inner'])).code).toBe(0);
    expect(last().line).toBe('DELETE /vpc/subnets/s1');
    expect((await run(['network', 'subnet', 'delete', 'none'])).code).toBe(4);
  });
});
