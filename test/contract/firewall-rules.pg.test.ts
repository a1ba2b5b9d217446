import { finishRule } from '@gantry/api/testing-scheduler';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  defaultNetworkOf,
  expectDescribed,
  expectFieldRefused,
  expectOptional,
  expectRefusal,
  expectRequired,
  type Fields,
  makeVm,
  membersOf,
  NOBODY,
  newName,
  operationOf,
  readOpenApi,
  ruleBody,
  startWorld,
  UUID,
  type World,
} from './support.ts';

let world: World;
let networkId: string;
let vmId: string;
let rules: string;
/** In force; from a block to a VM. */
let rule: Fields;

beforeAll(async () => {
  world = await startWorld();
  rules = `${world.P}/vpc/firewall-rules`;
  networkId = await defaultNetworkOf(world);
  vmId = await makeVm(world);
  const { metadata } = operationOf(
    await send(
      ruleBody(networkId, {
        ...{ name: 'web', protocols: ['tcp', 'udp'], source_ports: ['1024-65535'] },
        ...{ destinations: [{ resource_id: vmId }], destination_ports: ['443', '8000-8080'] },
      }),
    ),
  );
  await finishRule(world.api.sql, metadata.id);
  rule = (await world.get(`${rules}/${metadata.id}`)).body;
});
afterAll(() => world.api.stop());

const send = (body: Fields) => world.post(rules, body);
/** The rule that this request makes, as it reads back. */
const created = async (changes: Fields): Promise<Fields> => {
  const { metadata } = operationOf(await send(ruleBody(networkId, changes)));
  return (await world.get(`${rules}/${metadata.id}`)).body;
};

describe('Firewall rule', () => {
  it('has the fields of the table and no others', () =>
    expect(membersOf(rule)).toEqual(
      [
        ...['id', 'name', 'direction', 'action', 'vpc_network_id', 'state', 'sources'],
        ...['source_ports', 'destinations', 'destination_ports', 'protocols'],
      ].sort(),
    ));
  it('| id | string (uuid) | |', () => expect(rule['id']).toMatch(UUID));
  it('| name | string | |', () => expect(rule['name']).toBe('web'));
  it('| direction | string | ingress or egress |', async () => {
    expect(rule['direction']).toBe('ingress');
    expect((await created({ direction: 'egress' }))['direction']).toBe('egress');
  });
  it('| action | string | allow or deny |', async () => {
    expect(rule['action']).toBe('allow');
    expect((await created({ action: 'deny' }))['action']).toBe('deny');
  });
  it('| vpc_network_id | string | id of the network |', () =>
    expect(rule['vpc_network_id']).toBe(networkId));
  it('| state | string | active is the value shown |', () => expect(rule['state']).toBe('active'));
  it('| sources | array of endpoint | |', () =>
    expect(rule['sources']).toEqual([{ resource_id: '', cidr: '10.0.0.0/8' }]));
  it('| source_ports | array of string | may be empty |', async () => {
    expect(rule['source_ports']).toEqual(['1024-65535']);
    expect((await created({ source_ports: [] }))['source_ports']).toEqual([]);
  });
  it('| destinations | array of endpoint | |', () =>
    expect(rule['destinations']).toEqual([{ resource_id: vmId, cidr: '' }]));
  it('| destination_ports | array of string | may be empty |', async () => {
    expect(rule['destination_ports']).toEqual(['443', '8000-8080']);
    expect((await created({ destination_ports: [] }))['destination_ports']).toEqual([]);
  });
  it('| protocols | array of string | tcp and udp are used |', () =>
    expect(rule['protocols']).toEqual(['tcp', 'udp']));
  it('Endpoint object: `resource_id` (string, optional; a VM id) and `cidr` (string, optional; CIDR block). An unused member is returned as the empty string.', async () => {
    const sources = [{ resource_id: vmId }, { cidr: '192.0.2.0/24' }, {}];
    expect((await created({ sources }))['sources']).toEqual([
      { resource_id: vmId, cidr: '' },
      { resource_id: '', cidr: '192.0.2.0/24' },
      { resource_id: '', cidr: '' },
    ]);
    for (const wrong of [{ resource_id: 7 }, { cidr: 7 }, { cidr: 'everywhere' }]) {
      expectFieldRefused(await send(ruleBody(networkId, { sources: [wrong] })), 'sources');
    }
  });
});

describe('Create firewall rule', () => {
  const required = (field: string, wrong: unknown) =>
    expectRequired({ send, body: ruleBody(networkId), field, wrong });

  it('| name | string | yes | |', () => required('name', 7));
  it('| vpc_network_id | string | yes | |', async () => {
    await required('vpc_network_id', 7);
    expectRefusal(await send(ruleBody(NOBODY)), 404, 'not_found');
  });
  it('| action | string | yes | allow or deny |', async () => {
    await required('action', 7);
    for (const action of ['allow', 'deny'])
      expect(await created({ action })).toMatchObject({ action });
    for (const action of ['ACTION_ALLOW', 'drop', '']) {
      expectFieldRefused(await send(ruleBody(networkId, { action })), 'action');
    }
  });
  it('| direction | string | yes | ingress or egress |', async () => {
    await required('direction', 7);
    for (const direction of ['ingress', 'egress']) {
      expect(await created({ direction })).toMatchObject({ direction });
    }
    for (const direction of ['DIRECTION_INGRESS', 'both', '']) {
      expectFieldRefused(await send(ruleBody(networkId, { direction })), 'direction');
    }
  });
  it('| protocols | array of string | yes | |', () => required('protocols', 'tcp'));
  it('| sources | array of endpoint object | yes | endpoint object has optional resource_id and optional cidr |', async () => {
    await required('sources', '10.0.0.0/8');
    for (const endpoint of [{}, { resource_id: vmId }, { cidr: '10.0.0.0/8' }]) {
      expect(await created({ sources: [endpoint] })).toMatchObject({ sources: [endpoint] });
    }
  });
  it('| destinations | array of endpoint object | yes | same shape |', async () => {
    await required('destinations', '10.0.0.0/8');
    for (const endpoint of [{}, { resource_id: vmId }, { cidr: '10.0.0.0/8' }]) {
      expect(await created({ destinations: [endpoint] })).toMatchObject({
        destinations: [endpoint],
      });
    }
  });
  it('| source_ports | array of string | yes per schema | the usage example leaves it out |', async () => {
    const body = ruleBody(networkId, { source_ports: ['53'] });
    await expectOptional({ send, body, field: 'source_ports', wrong: '53' });
    expectFieldRefused(await send({ ...body, source_ports: [53] }), 'source_ports');
    expect(await created({ source_ports: ['53'] })).toMatchObject({ source_ports: ['53'] });
  });
  it('| destination_ports | array of string | yes per schema | the usage example leaves it out |', async () => {
    const body = ruleBody(networkId, { destination_ports: ['53'] });
    await expectOptional({ send, body, field: 'destination_ports', wrong: '53' });
    expectFieldRefused(await send({ ...body, destination_ports: [53] }), 'destination_ports');
    expect(await created({ destination_ports: ['53'] })).toMatchObject({
      destination_ports: ['53'],
    });
  });
  it('is described so', async () =>
    expectDescribed(await readOpenApi(world.api), 'CreateFirewallRule', {
      required: {
        ...{ name: 'string', vpc_network_id: 'string', action: 'string', direction: 'string' },
        ...{ protocols: 'array', sources: 'array', destinations: 'array' },
      },
      // Required by the schema, left out by the example: both are accepted.
      optional: { source_ports: 'array', destination_ports: 'array' },
    }));
  it('Response: object with `operation` (Operation; state IN_PROGRESS, metadata.request echoes the request, result null).', async () => {
    const body = ruleBody(networkId, { sources: [{ resource_id: '', cidr: '10.1.0.0/16' }] });
    const destinations = [{ resource_id: vmId, cidr: '' }];
    const operation = operationOf(await send({ ...body, destinations }));
    expect(operation).toMatchObject({ state: 'IN_PROGRESS', result: null });
    expect(operation.metadata.request).toEqual({
      ...{ ...body, destinations },
      ...{ direction: 'DIRECTION_INGRESS', action: 'ACTION_ALLOW' },
    });
  });
});

describe('List firewall rules', () => {
  it('GET /v0.1/projects/{id}/vpc/firewall-rules. Response: object with `items`, an array of Firewall rule.', async () => {
    const { status, body } = await world.get(rules);
    expect(status).toBe(200);
    expect(membersOf(body)).toEqual(['items']);
    expect(body.items).toContainEqual(rule);
  });
});

describe('Get firewall rule operation', () => {
  it('GET on the path tail /vpc/firewall-rules/operations/{id} (id is the operation id). Response: the Operation object; when SUCCEEDED, result is the Firewall rule, and the service holds operation_name, id, request.', async () => {
    const opened = operationOf(await send(ruleBody(networkId)));
    const path = `${rules}/operations/${opened.operation_id}`;
    expect(await world.get(path)).toMatchObject({ status: 200, body: opened });
    await finishRule(world.api.sql, opened.metadata.id);
    const { body: finished } = await world.get(path);
    const { body: made } = await world.get(`${rules}/${opened.metadata.id}`);
    expect(finished).toMatchObject({ state: 'SUCCEEDED', result: made });
    expect(finished.metadata).toEqual(opened.metadata);
  });
});

describe('Firewall and network defaults', () => {
  let fresh: { id: string };
  const under = (path: string) => world.owner.get(`/projects/${fresh.id}/vpc/${path}`);
  beforeAll(async () => {
    const body = { name: newName(), organization_id: world.tenant.organizationId };
    fresh = (await world.owner.post('/projects', body)).body;
  });

  it('A new project has the network `default-vpc-network` 172.27.0.0/16 with a /20 subnet in each location.', async () => {
    const { items: networks } = (await under('networks')).body;
    expect(networks).toMatchObject([{ name: 'default-vpc-network', cidr: '172.27.0.0/16' }]);
    const { items: subnets } = (await under('subnets')).body;
    const { items: locations } = (await world.get('/locations')).body;
    expect(subnets.map(({ location }: Fields) => location).sort()).toEqual(
      locations.map(({ name }: Fields) => name).sort(),
    );
    const blocks = subnets.map(({ cidr }: Fields) => cidr);
    expect(new Set(blocks).size).toBe(blocks.length);
    for (const block of blocks) expect(block).toMatch(/^172\.27\.\d+\.0\/20$/);
    expect(networks[0].subnets.sort()).toEqual(subnets.map(({ id }: Fields) => id).sort());
  });
  it('Closed by default in both directions, with rules created along with it: ssh from anywhere, icmp and everything inside the network, all egress.', async () => {
    const network = (await under('networks')).body.items[0].id;
    const inside = [{ resource_id: network, cidr: '' }];
    const anywhere = [{ resource_id: '', cidr: '' }];
    const { items } = (await under('firewall-rules')).body;
    const shown = items.map(({ id, name, ...shape }: Fields) => {
      expect([id, name]).toEqual([expect.stringMatching(UUID), expect.stringMatching(/./)]);
      return shape;
    });
    const common = { action: 'allow', state: 'active', vpc_network_id: network, source_ports: [] };
    const everything = { protocols: ['tcp', 'udp', 'icmp'], destination_ports: [] };
    expect(shown).toHaveLength(4);
    for (const expected of [
      {
        ...{ direction: 'ingress', sources: anywhere, destinations: inside },
        ...{ protocols: ['tcp'], destination_ports: ['22'] },
      },
      {
        ...{ direction: 'ingress', sources: anywhere, destinations: inside },
        ...{ protocols: ['icmp'], destination_ports: [] },
      },
      { direction: 'ingress', sources: inside, destinations: inside, ...everything },
      { direction: 'egress', sources: inside, destinations: anywhere, ...everything },
    ]) {
      expect(shown).toContainEqual({ ...common, ...expected });
    }
  });
});
