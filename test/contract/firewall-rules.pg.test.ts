import { finishRule } from '@gantry/testkit/make/finished';
import { newName, ruleBody } from '@gantry/testkit/make/request-bodies';
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
  operationOf,
  readOpenApi,
  startWorld,
  UUID,
  type World,
} from './support.ts';

let world: World;
let networkId: string;
let vmId: string;
let rules: string;
/** An active rule from a block to a VM. */
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
/** Creates a rule with this request and reads it back. */
const created = async (changes: Fields): Promise<Fields> => {
  const { metadata } = operationOf(await send(ruleBody(networkId, changes)));
  return (await world.get(`${rules}/${metadata.id}`)).body;
};

describe('docs/contract/networks.md#the-firewall-rule-object', () => {
  it('a rule has the documented fields and no others', () =>
    expect(membersOf(rule)).toEqual(
      [
        ...['id', 'name', 'direction', 'action', 'vpc_network_id', 'state', 'sources'],
        ...['source_ports', 'destinations', 'destination_ports', 'protocols', 'tags'],
      ].sort(),
    ));
  it('id is a UUID', () => expect(rule['id']).toMatch(UUID));
  it('name is a string', () => expect(rule['name']).toBe('web'));
  it('direction is ingress or egress', async () => {
    expect(rule['direction']).toBe('ingress');
    expect((await created({ direction: 'egress' }))['direction']).toBe('egress');
  });
  it('action is allow or deny', async () => {
    expect(rule['action']).toBe('allow');
    expect((await created({ action: 'deny' }))['action']).toBe('deny');
  });
  it('vpc_network_id is the id of the network', () =>
    expect(rule['vpc_network_id']).toBe(networkId));
  it('state is active once the rule is in force', () => expect(rule['state']).toBe('active'));
  it('sources is an array of endpoints', () =>
    expect(rule['sources']).toEqual([{ resource_id: '', cidr: '10.0.0.0/8' }]));
  it('source_ports is an array of strings, which may be empty', async () => {
    expect(rule['source_ports']).toEqual(['1024-65535']);
    expect((await created({ source_ports: [] }))['source_ports']).toEqual([]);
  });
  it('destinations is an array of endpoints', () =>
    expect(rule['destinations']).toEqual([{ resource_id: vmId, cidr: '' }]));
  it('destination_ports is an array of strings, which may be empty', async () => {
    expect(rule['destination_ports']).toEqual(['443', '8000-8080']);
    expect((await created({ destination_ports: [] }))['destination_ports']).toEqual([]);
  });
  it('protocols has the protocols of the request', () =>
    expect(rule['protocols']).toEqual(['tcp', 'udp']));
  it('an endpoint has resource_id or cidr, and the unused member is empty', async () => {
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

describe('docs/contract/networks.md#firewall-rules: request body', () => {
  const required = (field: string, wrong: unknown) =>
    expectRequired({ send, body: ruleBody(networkId), field, wrong });

  it('name is required, a string', () => required('name', 7));
  it('vpc_network_id is required, a string', async () => {
    await required('vpc_network_id', 7);
    expectRefusal(await send(ruleBody(NOBODY)), 404, 'not_found');
  });
  it('action is required, allow or deny', async () => {
    await required('action', 7);
    for (const action of ['allow', 'deny'])
      expect(await created({ action })).toMatchObject({ action });
    for (const action of ['ACTION_ALLOW', 'drop', '']) {
      expectFieldRefused(await send(ruleBody(networkId, { action })), 'action');
    }
  });
  it('direction is required, ingress or egress', async () => {
    await required('direction', 7);
    for (const direction of ['ingress', 'egress']) {
      expect(await created({ direction })).toMatchObject({ direction });
    }
    for (const direction of ['DIRECTION_INGRESS', 'both', '']) {
      expectFieldRefused(await send(ruleBody(networkId, { direction })), 'direction');
    }
  });
  it('protocols is required, an array of strings', () => required('protocols', 'tcp'));
  it('sources is required, an array of endpoints with optional members', async () => {
    await required('sources', '10.0.0.0/8');
    for (const endpoint of [{}, { resource_id: vmId }, { cidr: '10.0.0.0/8' }]) {
      expect(await created({ sources: [endpoint] })).toMatchObject({ sources: [endpoint] });
    }
  });
  it('destinations is required, an array of endpoints with optional members', async () => {
    await required('destinations', '10.0.0.0/8');
    for (const endpoint of [{}, { resource_id: vmId }, { cidr: '10.0.0.0/8' }]) {
      expect(await created({ destinations: [endpoint] })).toMatchObject({
        destinations: [endpoint],
      });
    }
  });
  it('source_ports is optional, an array of strings', async () => {
    const body = ruleBody(networkId, { source_ports: ['53'] });
    await expectOptional({ send, body, field: 'source_ports', wrong: '53' });
    expectFieldRefused(await send({ ...body, source_ports: [53] }), 'source_ports');
    expect(await created({ source_ports: ['53'] })).toMatchObject({ source_ports: ['53'] });
  });
  it('destination_ports is optional, an array of strings', async () => {
    const body = ruleBody(networkId, { destination_ports: ['53'] });
    await expectOptional({ send, body, field: 'destination_ports', wrong: '53' });
    expectFieldRefused(await send({ ...body, destination_ports: [53] }), 'destination_ports');
    expect(await created({ destination_ports: ['53'] })).toMatchObject({
      destination_ports: ['53'],
    });
  });
  it('the OpenAPI document describes the same body', async () =>
    expectDescribed(await readOpenApi(world.api), 'CreateFirewallRule', {
      required: {
        ...{ name: 'string', vpc_network_id: 'string', action: 'string', direction: 'string' },
        ...{ protocols: 'array', sources: 'array', destinations: 'array' },
      },
      // The schema requires it and the example omits it; both are accepted.
      optional: { source_ports: 'array', destination_ports: 'array', tags: 'object' },
    }));
  it('the reply has the unfinished operation, which echoes the request', async () => {
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

describe('docs/contract/networks.md#firewall-rules: list', () => {
  it('rules are listed as items', async () => {
    const { status, body } = await world.get(rules);
    expect(status).toBe(200);
    expect(membersOf(body)).toEqual(['items', 'next_page_token']);
    expect(body.items).toContainEqual(rule);
  });
});

describe('docs/contract/operations.md: firewall rule operations', () => {
  it('a rule operation is read unwrapped, and its result is the rule', async () => {
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

describe('docs/contract/networks.md#defaults-of-a-new-project', () => {
  let fresh: { id: string };
  const under = (path: string) => world.owner.get(`/projects/${fresh.id}/vpc/${path}`);
  beforeAll(async () => {
    const body = { name: newName(), organization_id: world.tenant.organizationId };
    fresh = (await world.owner.post('/projects', body)).body;
  });

  it('a new project has the default network with a /20 subnet in each location', async () => {
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
  it('the default network has exactly the four documented rules', async () => {
    const network = (await under('networks')).body.items[0].id;
    const inside = [{ resource_id: network, cidr: '' }];
    const anywhere = [{ resource_id: '', cidr: '' }];
    const { items } = (await under('firewall-rules')).body;
    const shown = items.map(({ id, name, tags, ...shape }: Fields) => {
      expect([id, name]).toEqual([expect.stringMatching(UUID), expect.stringMatching(/./)]);
      expect(tags).toEqual({});
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
