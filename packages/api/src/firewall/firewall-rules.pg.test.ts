import { newId } from '@gantry/model/ids';
import { badField, refusal } from '@gantry/testkit/api/read-errors';
import { startTestApi, type TestApi } from '@gantry/testkit/api/test-api';
import { failOperation, finishRule } from '@gantry/testkit/make/finished';
import { makeTenant, SSH_PUBLIC_KEY, type TestTenant } from '@gantry/testkit/make/tenants';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let api: TestApi;
let tenant: TestTenant;
let stranger: TestTenant;
let rules: string;
let networkId: string;
let subnetId: string;
let vmId: string;
let foreignNetworkId: string;

beforeAll(async () => {
  api = await startTestApi();
  tenant = await makeTenant(api, 'acme');
  stranger = await makeTenant(api, 'other');
  rules = `/projects/${tenant.projectId}/vpc/firewall-rules`;
  networkId = await firstId(`/projects/${tenant.projectId}/vpc/networks`, tenant);
  subnetId = await firstId(`/projects/${tenant.projectId}/vpc/subnets`, tenant);
  foreignNetworkId = await firstId(`/projects/${stranger.projectId}/vpc/networks`, stranger);
  const vm = await call('POST', `/projects/${tenant.projectId}/vms`, {
    name: 'web',
    type: 'a40.1x',
    location: 'eu-north-a',
    image: 'debian-12',
    ssh_public_key: SSH_PUBLIC_KEY,
  });
  vmId = vm.body.operation.metadata.id;
});
afterAll(() => api.stop());

const call = (method: string, path: string, body?: unknown, bearer = tenant.accessKey) =>
  api.call(method, path, body === undefined ? { bearer } : { bearer, body });
const get = (path: string) => call('GET', path);

async function firstId(path: string, { accessKey }: TestTenant): Promise<string> {
  return (await call('GET', path, undefined, accessKey)).body.items[0].id;
}

const body = (name: string, overrides: object = {}) => ({
  name,
  vpc_network_id: networkId,
  action: 'allow',
  direction: 'ingress',
  protocols: ['tcp'],
  sources: [{ cidr: '10.0.0.0/8' }],
  destinations: [],
  ...overrides,
});

async function makeRule(name: string, overrides: object = {}): Promise<string> {
  const reply = await call('POST', rules, body(name, overrides));
  expect(reply.body.code).toBeUndefined();
  const { id } = reply.body.operation.metadata;
  await finishRule(api.sql, id);
  return id;
}

describe('creating a firewall rule', () => {
  it('echoes direction and action in their long form, and the rule has the short form', async () => {
    const sent = body('web', {
      action: 'deny',
      direction: 'egress',
      protocols: ['udp', 'tcp'],
      sources: [{ resource_id: vmId }, {}],
      source_ports: ['*'],
      destinations: [{ cidr: '192.0.2.7' }, { cidr: '', resource_id: subnetId }],
      destination_ports: ['22', '3000-8080'],
    });
    const { status, body: reply } = await call('POST', rules, sent);
    expect(status).toBe(200);
    const { id, ...metadata } = reply.operation.metadata;
    const sources = [
      { resource_id: vmId, cidr: '' },
      { resource_id: '', cidr: '' },
    ];
    const second = { cidr: '', resource_id: subnetId };
    expect(reply.operation).toMatchObject({ state: 'IN_PROGRESS', result: null, completed_at: '' });
    expect(metadata).toEqual({
      operation_name: 'CREATE',
      type: 'vpc-firewall-rule',
      request: {
        ...sent,
        action: 'ACTION_DENY',
        direction: 'DIRECTION_EGRESS',
        sources,
        destinations: [{ resource_id: '', cidr: '192.0.2.7' }, second],
      },
    });
    expect((await get(`${rules}/${id}`)).body).toEqual({
      ...sent,
      id,
      state: 'pending',
      tags: {},
      sources,
      destinations: [{ resource_id: '', cidr: '192.0.2.7/32' }, second],
    });
    const operation = await get(`${rules}/operations/${reply.operation.operation_id}`);
    expect(operation.body).toEqual(reply.operation);
  });

  it('treats missing ports as an empty list, and the rule is active once it is applied', async () => {
    const { body: reply } = await call('POST', rules, body('defaults'));
    const { id, request } = reply.operation.metadata;
    const filled = { source_ports: [], destination_ports: [] };
    expect(request).toMatchObject({
      ...filled,
      direction: 'DIRECTION_INGRESS',
      action: 'ACTION_ALLOW',
      destinations: [],
    });
    await finishRule(api.sql, id);
    const rule = (await get(`${rules}/${id}`)).body;
    expect(rule).toMatchObject({ ...filled, state: 'active', destinations: [] });
    const operation = await get(`${rules}/operations/${reply.operation.operation_id}`);
    expect(operation.body).toMatchObject({ state: 'SUCCEEDED', result: rule });
  });

  it.each([
    ['every address', { sources: [{ cidr: '0.0.0.0/0' }] }],
    ['the network itself', () => ({ sources: [{ resource_id: networkId }] })],
    ['an id in capitals', () => ({ sources: [{ resource_id: vmId.toUpperCase() }] })],
    ['icmp without ports', { protocols: ['icmp'] }],
    ['icmp beside tcp with ports', { protocols: ['icmp', 'tcp'], destination_ports: ['1-65535'] }],
    ['64 ports', { source_ports: Array.from({ length: 64 }, (_, i) => String(i + 1)) }],
  ])('accepts %s', async (name, change) => {
    const overrides = typeof change === 'function' ? change() : change;
    await makeRule(name.replaceAll(' ', '-').toLowerCase(), overrides);
  });

  const long = <T>(entry: T) => Array.from({ length: 65 }, () => entry);
  it.each([
    ['name', { name: 'UPPER' }],
    ['name', { name: 'tab\t' }],
    ['name', { name: null }],
    ['vpc_network_id', { vpc_network_id: 'default-vpc-network' }],
    ['vpc_network_id', { vpc_network_id: '' }],
    ['vpc_network_id', { vpc_network_id: undefined }],
    ['action', { action: 'ACTION_ALLOW' }],
    ['direction', { direction: 'both' }],
    ['protocols', { protocols: [] }],
    ['protocols', { protocols: ['tcp', 'tcp'] }],
    ['protocols', { protocols: 'tcp' }],
    ['protocols.0', { protocols: ['sctp'] }],
    ['protocols.0', { protocols: ['TCP'] }],
    ['sources', { sources: undefined }],
    ['destinations', { destinations: undefined }],
    ['sources', { sources: {} }],
    ['sources', { sources: long({}) }],
    ['sources.0', { sources: ['10.0.0.0/8'] }],
    ['sources.0.cidr', { sources: [{ cidr: '10.0.0.1/8' }] }],
    ['sources.0.cidr', { sources: [{ cidr: '10.0.0.0/33' }] }],
    ['sources.0.cidr', { sources: [{ cidr: '256.0.0.0/8' }] }],
    ['sources.0.cidr', { sources: [{ cidr: '010.0.0.0/8' }] }],
    ['sources.0.cidr', { sources: [{ cidr: '10.0.0.0/' }] }],
    ['sources.0.cidr', { sources: [{ cidr: '10.0.0/8' }] }],
    ['sources.0.cidr', { sources: [{ cidr: '167772160' }] }],
    ['sources.0.cidr', { sources: [{ cidr: '10.0.0.0/8\n' }] }],
    ['sources.0.cidr', { sources: [{ cidr: '::/0' }] }],
    ['sources.0.cidr', { sources: [{ cidr: 10 }] }],
    ['sources.0.cidr', { sources: [{ cidr: null }] }],
    ['destinations.1.cidr', { destinations: [{}, { cidr: 'x' }] }],
    ['sources.0.cidr', { sources: [{ cidr: '10.0.0.0/8', resource_id: newId() }] }],
    ['sources.0.resource_id', { sources: [{ resource_id: 'web' }] }],
    ['destinations.0.port', { destinations: [{ port: 22 }] }],
    ['source_ports', { source_ports: '22' }],
    ['source_ports', { source_ports: long('22') }],
    ['destination_ports.0', { destination_ports: [22] }],
    ['destination_ports.0', { destination_ports: ['0'] }],
    ['destination_ports.0', { destination_ports: ['65536'] }],
    ['destination_ports.0', { destination_ports: ['99999999999'] }],
    ['destination_ports.0', { destination_ports: ['8080-3000'] }],
    ['destination_ports.0', { destination_ports: ['1-2-3'] }],
    ['destination_ports.0', { destination_ports: ['-22'] }],
    ['destination_ports.0', { destination_ports: [' 22'] }],
    ['destination_ports.1', { destination_ports: ['22', 'ssh'] }],
    ['destination_ports', { protocols: ['icmp'], destination_ports: ['22'] }],
    ['source_ports', { protocols: ['icmp'], source_ports: ['*'] }],
    ['priority', { priority: 1 }],
  ])('refuses a body with a wrong %s: %j', async (field, change) => {
    expect(badField(await call('POST', rules, body('bad', change)))).toEqual([400, field]);
    expect(await api.sql`select from firewall_rules where name = 'bad'`).toHaveLength(0);
  });

  it('refuses resources of other projects and names their fields', async () => {
    const destinations = [{ cidr: '10.0.0.0/8' }, { resource_id: foreignNetworkId }];
    const reply = await call('POST', rules, {
      ...body('foreign', { destinations, sources: [{ resource_id: newId() }] }),
    });
    const reason = 'is not a VM, subnet or network of this project';
    expect(reply.status).toBe(400);
    expect(reply.body.details).toEqual([
      { field: 'sources.0.resource_id', reason },
      { field: 'destinations.1.resource_id', reason },
    ]);
  });

  it('replies not_found for networks of others and unknown networks', async () => {
    for (const vpc_network_id of [foreignNetworkId, newId()]) {
      const reply = await call('POST', rules, body('lost', { vpc_network_id }));
      expect(refusal(reply)).toEqual([404, 'not_found']);
    }
  });

  it('refuses the name of another rule in the project', async () => {
    const reply = await call('POST', rules, body('default-allow-ssh'));
    expect(refusal(reply)).toEqual([409, 'name_taken']);
  });

  it('refuses more rules than the quota', async () => {
    const small = await makeTenant(api, 'small');
    await api.sql`update quotas set max = used where project_id = ${small.projectId} and type = 'firewall_rules'`;
    const vpc_network_id = await firstId(`/projects/${small.projectId}/vpc/networks`, small);
    const path = `/projects/${small.projectId}/vpc/firewall-rules`;
    const reply = await call('POST', path, body('many', { vpc_network_id }), small.accessKey);
    expect(refusal(reply)).toEqual([422, 'quota_exceeded']);
  });

  it('is forbidden for read-only callers', async () => {
    const reply = await call('POST', rules, body('forbidden'), tenant.readOnlyKey);
    expect(refusal(reply)).toEqual([403, 'forbidden']);
  });
});

describe('reading firewall rules', () => {
  it('lists only the rules of the project, the default rules first', async () => {
    const theirs = `/projects/${stranger.projectId}/vpc/firewall-rules`;
    const { body: list } = await call('GET', theirs, undefined, stranger.accessKey);
    expect(Object.keys(list)).toEqual(['items', 'next_page_token']);
    expect(list.items.map(({ name }: { name: string }) => name).sort()).toEqual([
      'default-allow-egress',
      'default-allow-icmp',
      'default-allow-internal',
      'default-allow-ssh',
    ]);
    expect(list.items[0]).toMatchObject({ state: 'active', vpc_network_id: foreignNetworkId });
  });

  it('replies alike for rules of others and unknown rules, and refuses a malformed id', async () => {
    const id = await makeRule('hidden');
    const path = `/projects/${stranger.projectId}/vpc/firewall-rules`;
    for (const [method, sent] of [
      ['GET', undefined],
      ['PATCH', { name: 'stolen' }],
      ['DELETE', undefined],
    ] as const) {
      const foreign = await call(method, `${path}/${id}`, sent, stranger.accessKey);
      const unknown = await call(method, `${path}/${newId()}`, sent, stranger.accessKey);
      expect(refusal(foreign)).toEqual([404, 'not_found']);
      expect(foreign.body.message).toBe(unknown.body.message);
      const odd = await call(method, `${path}/no-uuid`, sent, stranger.accessKey);
      expect(badField(odd)).toEqual([400, 'rule_id']);
    }
  });
});

describe('changing a firewall rule', () => {
  it('changes the given members, keeps the rest, and is active once the new generation is applied', async () => {
    const id = await makeRule('changing', { destination_ports: ['22'] });
    const before = (await get(`${rules}/${id}`)).body;
    const change = { sources: [{ cidr: '192.0.2.1' }], protocols: ['udp'] };
    const { body: reply } = await call('PATCH', `${rules}/${id}`, change);
    expect(reply.operation).toMatchObject({
      state: 'IN_PROGRESS',
      metadata: { operation_name: 'UPDATE', type: 'vpc-firewall-rule', id },
    });
    expect(reply.operation.metadata.request).toEqual({
      sources: [{ resource_id: '', cidr: '192.0.2.1' }],
      protocols: ['udp'],
    });
    const after = {
      ...before,
      protocols: ['udp'],
      sources: [{ resource_id: '', cidr: '192.0.2.1/32' }],
    };
    expect((await get(`${rules}/${id}`)).body).toEqual({ ...after, state: 'pending' });
    await finishRule(api.sql, id);
    expect((await get(`${rules}/${id}`)).body).toEqual({ ...after, state: 'active' });
  });

  it('checks protocols and ports together, as they will be after the change', async () => {
    const id = await makeRule('merged', { destination_ports: ['22'] });
    const alone = await call('PATCH', `${rules}/${id}`, { protocols: ['icmp'] });
    expect(badField(alone)).toEqual([400, 'destination_ports']);
    const change = { protocols: ['icmp'], destination_ports: [] };
    expect((await call('PATCH', `${rules}/${id}`, change)).status).toBe(200);
  });

  it('refuses resources of other projects and names that are taken', async () => {
    const id = await makeRule('kept');
    const destinations = [{ resource_id: foreignNetworkId }];
    const foreign = await call('PATCH', `${rules}/${id}`, { destinations });
    expect(badField(foreign)).toEqual([400, 'destinations.0.resource_id']);
    const taken = await call('PATCH', `${rules}/${id}`, { name: 'default-allow-ssh' });
    expect(refusal(taken)).toEqual([409, 'name_taken']);
    expect((await get(`${rules}/${id}`)).body).toMatchObject({ name: 'kept', state: 'active' });
  });

  it.each([
    ['body', {}],
    ['body', []],
    ['direction', { direction: 'egress' }],
    ['vpc_network_id', { name: 'x', vpc_network_id: newId() }],
    ['protocols', { protocols: [] }],
    ['name', { name: null }],
    ['sources.0.cidr', { sources: [{ cidr: '1.2.3.4/0' }] }],
    ['source_ports.0', { source_ports: ['70000'] }],
  ])('refuses a change with a wrong %s: %j', async (field, change) => {
    expect(badField(await call('PATCH', `${rules}/${newId()}`, change))).toEqual([400, field]);
  });
});

describe('deleting a firewall rule', () => {
  it('is an operation whose result is the last state of the rule', async () => {
    const id = await makeRule('doomed');
    const { body: reply } = await call('DELETE', `${rules}/${id}`);
    expect(reply.operation.metadata).toMatchObject({ operation_name: 'DELETE', id, request: {} });
    expect((await get(`${rules}/${id}`)).body.state).toBe('deleting');
    await finishRule(api.sql, id);
    expect((await get(`${rules}/${id}`)).status).toBe(404);
    const done = await get(`${rules}/operations/${reply.operation.operation_id}`);
    expect(done.body).toMatchObject({ state: 'SUCCEEDED', result: { id, name: 'doomed' } });
  });

  it('can be repeated after a failure, while other changes are refused', async () => {
    const id = await makeRule('stubborn');
    await call('DELETE', `${rules}/${id}`);
    await failOperation(api.sql, id);
    const changed = await call('PATCH', `${rules}/${id}`, { name: 'revived' });
    expect(refusal(changed)).toEqual([409, 'conflict']);
    expect((await call('DELETE', `${rules}/${id}`)).status).toBe(200);
  });

  it('is refused, like every other write, while an operation is unfinished', async () => {
    const { body: reply } = await call('POST', rules, body('busy'));
    const path = `${rules}/${reply.operation.metadata.id}`;
    const expected = [409, 'operation_in_progress'];
    expect(refusal(await call('PATCH', path, { name: 'renamed' }))).toEqual(expected);
    expect(refusal(await call('DELETE', path))).toEqual(expected);
  });
});
