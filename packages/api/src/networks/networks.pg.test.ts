import { insertNetwork, lockNetworksOfProject } from '@gantry/db/queries/networks/networks';
import { newId } from '@gantry/model/ids';
import { badField, refusal } from '@gantry/testkit/api/read-errors';
import { startTestApi, type TestApi } from '@gantry/testkit/api/test-api';
import { finishRule } from '@gantry/testkit/make/finished';
import { makeTenant, SSH_PUBLIC_KEY, type TestTenant } from '@gantry/testkit/make/tenants';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';

let api: TestApi;
let tenant: TestTenant;
let stranger: TestTenant;
let vpc: string;
let networks: string;
let subnets: string;

beforeAll(async () => {
  api = await startTestApi();
  tenant = await makeTenant(api, 'acme');
  stranger = await makeTenant(api, 'other');
  vpc = `/projects/${tenant.projectId}/vpc`;
  networks = `${vpc}/networks`;
  subnets = `${vpc}/subnets`;
  await api.sql`update quotas set max = 1000 where type = 'networks'`;
  await api.sql`update organization_quotas set max = 1000 where type = 'networks'`;
});
afterAll(() => api.stop());

const call = (method: string, path: string, body?: unknown, bearer = tenant.accessKey) =>
  api.call(method, path, body === undefined ? { bearer } : { bearer, body });
const get = (path: string) => call('GET', path);

let made = 0;
/** Returns a block that no other test uses. */
const freshBlock = () => `10.${made++}.0.0`;

async function makeNetwork(cidr = `${freshBlock()}/16`) {
  const reply = await call('POST', networks, { name: `network-${made++}`, cidr });
  expect(reply.body.code).toBeUndefined();
  return reply.body as { id: string; name: string; cidr: string };
}

const subnetBody = (vpc_network_id: string, cidr: string) => ({
  name: `subnet-${made++}`,
  location: 'eu-north-a',
  cidr,
  vpc_network_id,
});

async function makeSubnet(networkId: string, cidr: string) {
  const reply = await call('POST', subnets, subnetBody(networkId, cidr));
  expect(reply.body.code).toBeUndefined();
  return reply.body as { id: string; cidr: string };
}

/** Creates a rule, in the default network by default. */
async function makeRule(overrides: object): Promise<string> {
  const { body } = await call('POST', `${vpc}/firewall-rules`, {
    name: `rule-${made++}`,
    vpc_network_id: await defaultNetworkId(),
    action: 'allow',
    direction: 'ingress',
    protocols: ['tcp'],
    sources: [],
    destinations: [],
    ...overrides,
  });
  return body.operation.metadata.id;
}

async function removeRule(id: string): Promise<void> {
  await finishRule(api.sql, id);
  await call('DELETE', `${vpc}/firewall-rules/${id}`);
  await finishRule(api.sql, id);
}

const defaultNetworkId = async () => (await get(networks)).body.items[0].id as string;

describe('a new project', () => {
  it('has the default network with a subnet in each location', async () => {
    const path = `/projects/${stranger.projectId}/vpc`;
    const { body } = await call('GET', `${path}/networks`, undefined, stranger.accessKey);
    const { body: list } = await call('GET', `${path}/subnets`, undefined, stranger.accessKey);
    expect(body.items).toEqual([
      {
        id: expect.any(String),
        name: 'default-vpc-network',
        cidr: '172.27.0.0/16',
        gateway: '172.27.0.1',
        subnets: expect.any(Array),
        tags: {},
      },
    ]);
    expect([...body.items[0].subnets].sort()).toEqual(
      list.items.map(({ id }: { id: string }) => id).sort(),
    );
    expect(list.items).toContainEqual({
      id: expect.any(String),
      name: 'default-eu-north-a',
      cidr: '172.27.0.0/20',
      location: 'eu-north-a',
      vpc_network_id: body.items[0].id,
      tags: {},
    });
  });
});

describe('creating a network', () => {
  it('replies with the network, which can be read and listed', async () => {
    const sent = { name: 'mine', cidr: '192.168.16.0/20' };
    const { status, body } = await call('POST', networks, sent);
    expect(status).toBe(200);
    const network = {
      id: expect.any(String),
      ...sent,
      gateway: '192.168.16.1',
      subnets: [],
      tags: {},
    };
    expect(body).toEqual(network);
    expect((await get(`${networks}/${body.id}`)).body).toEqual(body);
    expect((await get(networks)).body.items).toContainEqual(body);
  });

  it.each([
    ['name', { name: 'Mine' }],
    ['name', { name: 'a\u0007' }],
    ['name', { name: undefined }],
    ['cidr', { cidr: undefined }],
    ['cidr', { cidr: 10 }],
    ['cidr', { cidr: '' }],
    ['cidr', { cidr: '10.200.0.1/16' }],
    ['cidr', { cidr: '10.200.0.0' }],
    ['cidr', { cidr: '10.200.0.0/29' }],
    ['cidr', { cidr: '10.200.0.0/99' }],
    ['cidr', { cidr: '10.256.0.0/16' }],
    ['cidr', { cidr: '8.8.8.0/24' }],
    ['cidr', { cidr: '0.0.0.0/0' }],
    ['cidr', { cidr: '172.0.0.0/8' }],
    ['cidr', { cidr: '172.32.0.0/16' }],
    ['cidr', { cidr: 'fd00::/8' }],
    ['cidr', { cidr: '10.200.0.0/16\0' }],
    ['gateway', { gateway: '10.200.0.1' }],
  ])('refuses a body with a wrong %s: %j', async (field, change) => {
    const sent = { name: 'bad', cidr: '10.200.0.0/16', ...change };
    expect(badField(await call('POST', networks, sent))).toEqual([400, field]);
  });

  it('accepts the smallest and the largest prefix', async () => {
    await makeNetwork('192.168.1.16/28');
    const wide = await call(
      ...(['POST', `/projects/${stranger.projectId}/vpc/networks`] as const),
      ...([{ name: 'wide', cidr: '10.0.0.0/8' }, stranger.accessKey] as const),
    );
    expect(wide.status).toBe(200);
  });

  it('refuses overlapping blocks in the project, smaller and larger ones', async () => {
    const block = freshBlock();
    await makeNetwork(`${block}/20`);
    for (const cidr of [`${block}/20`, `${block}/24`, `${block}/16`, '172.16.0.0/12']) {
      const reply = await call('POST', networks, { name: 'overlap', cidr });
      expect(refusal(reply)).toEqual([409, 'conflict']);
    }
  });

  it('accepts one of several concurrent overlapping networks', async () => {
    const cidr = `${freshBlock()}/16`;
    const replies = await Promise.all(
      [1, 2, 3].map((number) => call('POST', networks, { name: `race-${number}`, cidr })),
    );
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
  });

  it('waits for a concurrent creation and sees its network', async () => {
    const cidr = `${freshBlock()}/16`;
    const later = await api.sql.begin(async (tx) => {
      await lockNetworksOfProject(tx, tenant.projectId);
      const first = { id: newId(), projectId: tenant.projectId, name: 'earlier', cidr };
      await insertNetwork(tx, { ...first, at: new Date() });
      const reply = call('POST', networks, { name: 'later', cidr });
      await vi.waitFor(async () => {
        const waiting = await api.sql`select from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock'`;
        expect(waiting).toHaveLength(1);
      }, 20_000);
      // The object keeps the promise from being awaited here, before the commit that it waits for.
      return { reply };
    });
    expect(refusal(await later.reply)).toEqual([409, 'conflict']);
  });

  it('refuses a name that is taken and more networks than the quota', async () => {
    const { name } = await makeNetwork();
    const taken = await call('POST', networks, { name, cidr: `${freshBlock()}/16` });
    expect(refusal(taken)).toEqual([409, 'name_taken']);
    const small = await makeTenant(api, 'small');
    await api.sql`update quotas set max = 1 where project_id = ${small.projectId} and type = 'networks'`;
    const path = `/projects/${small.projectId}/vpc/networks`;
    const reply = await call('POST', path, { name: 'two', cidr: '10.0.0.0/8' }, small.accessKey);
    expect(refusal(reply)).toEqual([422, 'quota_exceeded']);
  });
});

describe('deleting a network', () => {
  it('replies with the last state of the network, and its block is free again', async () => {
    const network = await makeNetwork();
    const subnet = await makeSubnet(network.id, network.cidr);
    const { status, body } = await call('DELETE', `${networks}/${network.id}`);
    expect(status).toBe(200);
    expect(body).toEqual({ ...network, subnets: [subnet.id] });
    expect((await get(`${networks}/${network.id}`)).status).toBe(404);
    expect((await get(`${subnets}/${subnet.id}`)).status).toBe(404);
    await makeNetwork(network.cidr);
  });

  it('is refused for the default network, even if nothing refers to it', async () => {
    const bare = await makeTenant(api, 'bare');
    await api.sql`delete from firewall_rules where project_id = ${bare.projectId}`;
    const path = `/projects/${bare.projectId}/vpc/networks`;
    const { body } = await call('GET', path, undefined, bare.accessKey);
    const { id } = body.items[0];
    const reply = await call('DELETE', `${path}/${id}`, undefined, bare.accessKey);
    expect(refusal(reply)).toEqual([409, 'conflict']);
  });

  it('is refused while VMs use it', async () => {
    const network = await makeNetwork();
    const subnet = await makeSubnet(network.id, network.cidr);
    const vm = await call('POST', `/projects/${tenant.projectId}/vms`, {
      name: `vm-${made++}`,
      type: 'a40.1x',
      location: 'eu-north-a',
      image: 'debian-12',
      ssh_public_key: SSH_PUBLIC_KEY,
    });
    await api.sql`update network_interfaces set network_id = ${network.id}, subnet_id = ${subnet.id}
      where vm_id = ${vm.body.operation.metadata.id}`;
    for (const path of [`${networks}/${network.id}`, `${subnets}/${subnet.id}`]) {
      const reply = await call('DELETE', path);
      expect(refusal(reply)).toEqual([409, 'conflict']);
      expect(reply.body.message).toBe('VMs use it: delete them first');
      expect((await get(path)).status).toBe(200);
    }
  });

  it('is refused while firewall rules belong to it or name it or its subnet', async () => {
    const network = await makeNetwork();
    const subnet = await makeSubnet(network.id, network.cidr);
    for (const reference of [
      { vpc_network_id: network.id },
      { sources: [{ resource_id: network.id }] },
      { destinations: [{}, { resource_id: subnet.id }] },
    ]) {
      const rule = await makeRule(reference);
      const reply = await call('DELETE', `${networks}/${network.id}`);
      expect(refusal(reply)).toEqual([409, 'conflict']);
      await removeRule(rule);
    }
    expect((await call('DELETE', `${networks}/${network.id}`)).status).toBe(200);
  });

  it('excludes a concurrent rule that names it', async () => {
    for (let round = 0; round < 5; round++) {
      const network = await makeNetwork();
      const name = `rule-${made++}`;
      const rule = {
        name,
        vpc_network_id: await defaultNetworkId(),
        action: 'allow',
        direction: 'ingress',
        protocols: ['tcp'],
        destinations: [],
        sources: [{ resource_id: network.id }],
      };
      const [deleted, created] = await Promise.all([
        call('DELETE', `${networks}/${network.id}`),
        call('POST', `${vpc}/firewall-rules`, rule),
      ]);
      expect([
        [200, 400],
        [409, 200],
      ]).toContainEqual([deleted.status, created.status]);
    }
  });
});

describe('creating a subnet', () => {
  it('replies with the subnet, which its network lists', async () => {
    const network = await makeNetwork();
    const sent = { ...subnetBody(network.id, network.cidr), location: 'us-east-a' };
    const { status, body } = await call('POST', subnets, sent);
    expect(status).toBe(200);
    expect(body).toEqual({ id: expect.any(String), ...sent, tags: {} });
    expect((await get(`${subnets}/${body.id}`)).body).toEqual(body);
    expect((await get(subnets)).body.items).toContainEqual(body);
    expect((await get(`${networks}/${network.id}`)).body.subnets).toEqual([body.id]);
  });

  it('refuses a block outside its network, and accepts the smallest block', async () => {
    const network = await makeNetwork(`${freshBlock()}/24`);
    const wider = network.cidr.replace('/24', '/23');
    const beside = network.cidr.replace('0.0/24', '1.0/24');
    for (const cidr of [wider, beside, '192.168.0.0/24']) {
      const reply = await call('POST', subnets, subnetBody(network.id, cidr));
      expect(badField(reply)).toEqual([400, 'cidr']);
    }
    await makeSubnet(network.id, network.cidr.replace('/24', '/29'));
  });

  it('refuses overlapping subnets, also concurrent ones', async () => {
    const network = await makeNetwork();
    const sent = [20, 20, 24].map((prefix) =>
      subnetBody(network.id, network.cidr.replace('/16', `/${prefix}`)),
    );
    const replies = await Promise.all(sent.map((body) => call('POST', subnets, body)));
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
  });

  it.each([
    ['name', { name: '' }],
    ['cidr', { cidr: '10.0.0.0/30' }],
    ['cidr', { cidr: '10.0.0.4/29' }],
    ['cidr', { cidr: '10.0.0.0/7' }],
    ['cidr', { cidr: ['10.0.0.0/24'] }],
    ['location', { location: '' }],
    ['location', { location: 3 }],
    ['vpc_network_id', { vpc_network_id: 'default-vpc-network' }],
    ['vpc_network_id', { vpc_network_id: undefined }],
    ['gateway', { gateway: '' }],
  ])('refuses a body with a wrong %s: %j', async (field, change) => {
    const sent = { ...subnetBody(newId(), '10.0.0.0/24'), ...change };
    expect(badField(await call('POST', subnets, sent))).toEqual([400, field]);
  });

  it('refuses unknown locations, and unknown networks and networks of others', async () => {
    const network = await makeNetwork();
    const lost = { ...subnetBody(network.id, network.cidr), location: 'moon-a' };
    expect(refusal(await call('POST', subnets, lost))).toEqual([422, 'unknown_location']);
    const path = `/projects/${stranger.projectId}/vpc/subnets`;
    for (const id of [network.id, newId()]) {
      const sent = subnetBody(id, network.cidr);
      const reply = await call('POST', path, sent, stranger.accessKey);
      expect(refusal(reply)).toEqual([404, 'not_found']);
    }
  });
});

describe('deleting a subnet', () => {
  it('replies with the last state of the subnet', async () => {
    const network = await makeNetwork();
    const subnet = await makeSubnet(network.id, network.cidr);
    const { status, body } = await call('DELETE', `${subnets}/${subnet.id}`);
    expect([status, body]).toEqual([200, subnet]);
    expect((await get(`${networks}/${network.id}`)).body.subnets).toEqual([]);
    expect((await call('DELETE', `${subnets}/${subnet.id}`)).status).toBe(404);
  });

  it('is refused while a firewall rule names it', async () => {
    const network = await makeNetwork();
    const subnet = await makeSubnet(network.id, network.cidr);
    const rule = await makeRule({ destinations: [{ resource_id: subnet.id }] });
    const reply = await call('DELETE', `${subnets}/${subnet.id}`);
    expect(refusal(reply)).toEqual([409, 'conflict']);
    await removeRule(rule);
    expect((await call('DELETE', `${subnets}/${subnet.id}`)).status).toBe(200);
  });
});

describe('the rights to networks', () => {
  it('exclude other projects, which get not_found', async () => {
    const network = await makeNetwork();
    const subnet = await makeSubnet(network.id, network.cidr);
    const theirs = `/projects/${stranger.projectId}/vpc`;
    for (const [kind, id, field] of [
      ['networks', network.id, 'network_id'],
      ['subnets', subnet.id, 'subnet_id'],
    ] as const) {
      for (const method of ['GET', 'DELETE']) {
        const path = `${theirs}/${kind}`;
        const foreign = await call(method, `${path}/${id}`, undefined, stranger.accessKey);
        expect(refusal(foreign)).toEqual([404, 'not_found']);
        const odd = await call(method, `${path}/no-uuid`, undefined, stranger.accessKey);
        expect(badField(odd)).toEqual([400, field]);
      }
    }
    expect((await get(`${subnets}/${subnet.id}`)).status).toBe(200);
  });

  it('allow read-only callers to read but not to change them', async () => {
    const sent = { name: 'mine-too', cidr: `${freshBlock()}/16` };
    const created = await call('POST', networks, sent, tenant.readOnlyKey);
    expect(refusal(created)).toEqual([403, 'forbidden']);
    expect((await call('GET', networks, undefined, tenant.readOnlyKey)).status).toBe(200);
  });
});
