import { newId } from '@gantry/model/ids';
import { startTestApi, type TestApi } from '@gantry/testkit/api/test-api';
import { newName, vmBody } from '@gantry/testkit/make/request-bodies';
import { makeTenant, type TestTenant } from '@gantry/testkit/make/tenants';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let api: TestApi;
let tenant: TestTenant;
let stranger: TestTenant;
let network: string;
let subnet: string;
let subnetElsewhere: string;
let emptyNetwork: string;
let foreignNetwork: string;
let foreignSubnet: string;

const call = (method: string, path: string, body?: unknown, owner = tenant, headers = {}) =>
  api.call(method, `/projects/${owner.projectId}${path}`, {
    ...{ bearer: owner.accessKey, body, headers },
  });

async function makeNetwork(owner: TestTenant, cidr: string): Promise<string> {
  return (await call('POST', '/vpc/networks', { name: newName(), cidr }, owner)).body.id;
}

async function makeSubnet(
  owner: TestTenant,
  of: string,
  place: { cidr: string; location: string },
) {
  const body = { name: newName(), vpc_network_id: of, ...place };
  return (await call('POST', '/vpc/subnets', body, owner)).body.id as string;
}

beforeAll(async () => {
  api = await startTestApi();
  [tenant, stranger] = await Promise.all([makeTenant(api, 'acme'), makeTenant(api, 'other')]);
  network = await makeNetwork(tenant, '10.1.0.0/16');
  emptyNetwork = await makeNetwork(tenant, '10.2.0.0/16');
  foreignNetwork = await makeNetwork(stranger, '10.3.0.0/16');
  subnet = await makeSubnet(tenant, network, { cidr: '10.1.0.0/24', location: 'eu-north-a' });
  subnetElsewhere = await makeSubnet(tenant, network, {
    ...{ cidr: '10.1.1.0/24', location: 'us-east-a' },
  });
  foreignSubnet = await makeSubnet(stranger, foreignNetwork, {
    ...{ cidr: '10.3.0.0/24', location: 'eu-north-a' },
  });
});
afterAll(() => api.stop());

const create = (network_interfaces: unknown, headers = {}) =>
  call('POST', '/vms', vmBody({ network_interfaces }), tenant, headers);

async function interfaceOf(reply: { body: { operation: { metadata: { id: string } } } }) {
  const { body } = await call('GET', `/vms/${reply.body.operation.metadata.id}`);
  expect(body.network_interfaces).toHaveLength(1);
  return body.network_interfaces[0];
}

describe('the network interface of a new VM', () => {
  it('is in the subnet that the request names', async () => {
    const reply = await create([{ subnet_id: subnet }]);
    expect(reply.status).toBe(200);
    expect(await interfaceOf(reply)).toMatchObject({ network, subnet });
    expect(reply.body.operation.metadata.request.network_interfaces).toEqual([
      { subnet_id: subnet, public_ipv4: { type: 'dynamic' } },
    ]);
  });

  it("is in the named network's oldest subnet in the location of the VM", async () => {
    await makeSubnet(tenant, network, { cidr: '10.1.2.0/24', location: 'eu-north-a' });
    expect(await interfaceOf(await create([{ network_id: network }]))).toMatchObject({
      ...{ network, subnet },
    });
    const both = await create([{ network_id: network, subnet_id: subnet }]);
    expect(await interfaceOf(both)).toMatchObject({ network, subnet });
  });

  it('is in the default network if the request names neither', async () => {
    const plain = await interfaceOf(await call('POST', '/vms', vmBody()));
    const named = await interfaceOf(await create([{ public_ipv4: { type: 'none' } }]));
    expect(named.network).toBe(plain.network);
    expect(named.ips[0].public_ipv4).toEqual({ address: '', id: '', type: 'none' });
    expect(plain.ips[0].public_ipv4).toEqual({ address: '', id: '', type: '' });
  });

  it('is created once by a request that is repeated with its Idempotency-Key', async () => {
    const body = vmBody({ network_interfaces: [{ subnet_id: subnet }] });
    const headers = { 'idempotency-key': newId() };
    const [first, again] = [
      await call('POST', '/vms', body, tenant, headers),
      await call('POST', '/vms', body, tenant, headers),
    ];
    expect(again.body).toEqual(first.body);
    const other = { ...body, network_interfaces: [{ network_id: network }] };
    const reused = await call('POST', '/vms', other, tenant, headers);
    expect(reused.body.code).toBe('idempotency_key_reused');
  });

  it('keeps its network and subnet from being deleted', async () => {
    await create([{ subnet_id: subnet }]);
    for (const path of [`/vpc/networks/${network}`, `/vpc/subnets/${subnet}`]) {
      expect((await call('DELETE', path)).body.code).toBe('conflict');
    }
  });
});

const counts = async () => {
  const [row] =
    await api.sql`select (select count(*) from vms) as vms, (select count(*) from disks) as disks,
    (select count(*) from operations) as operations, (select count(*) from network_interfaces) as interfaces`;
  return row;
};

describe('a request with an unfitting network interface', () => {
  it.each([
    ['network_interfaces', () => []],
    ['network_interfaces', () => [{ subnet_id: subnet }, { subnet_id: subnet }]],
    ['network_interfaces', () => ({ subnet_id: subnet })],
    ['network_interfaces.0.subnet', () => [{ subnet }]],
    ['network_interfaces.0.subnet_id', () => [{ subnet_id: 'no-uuid' }]],
    ['network_interfaces.0.public_ipv4.type', () => [{ public_ipv4: { type: 'static' } }]],
    ['network_interfaces.0.public_ipv4.id', () => [{ public_ipv4: { type: 'reserved' } }]],
    ['network_interfaces.0.public_ipv4.id', () => [{ public_ipv4: { type: 'none', id: newId() } }]],
    [
      'network_interfaces.0.public_ipv4.id',
      () => [{ public_ipv4: { type: 'reserved', id: newId() } }],
    ],
    ['network_interfaces.0.public_ipv4', () => [{ public_ipv4: 'none' }]],
    ['network_interfaces.0.network_id', () => [{ network_id: newId() }]],
    ['network_interfaces.0.network_id', () => [{ network_id: foreignNetwork }]],
    ['network_interfaces.0.network_id', () => [{ network_id: foreignNetwork, subnet_id: subnet }]],
    ['network_interfaces.0.network_id', () => [{ network_id: emptyNetwork }]],
    ['network_interfaces.0.network_id', () => [{ network_id: subnet }]],
    ['network_interfaces.0.subnet_id', () => [{ subnet_id: newId() }]],
    ['network_interfaces.0.subnet_id', () => [{ subnet_id: foreignSubnet }]],
    ['network_interfaces.0.subnet_id', () => [{ subnet_id: subnetElsewhere }]],
    ['network_interfaces.0.subnet_id', () => [{ network_id: emptyNetwork, subnet_id: subnet }]],
  ])('is refused with the name of the field %s and writes nothing', async (field, interfaces) => {
    const before = await counts();
    const reply = await create(interfaces());
    expect([reply.status, reply.body.details?.[0].field]).toEqual([400, field]);
    expect(await counts()).toEqual(before);
  });

  it('gives the same reply for an unknown and for a foreign subnet', async () => {
    const [unknown, foreign] = [
      await create([{ subnet_id: newId() }]),
      await create([{ subnet_id: foreignSubnet }]),
    ];
    expect(foreign.body.message).toBe(unknown.body.message);
  });
});
