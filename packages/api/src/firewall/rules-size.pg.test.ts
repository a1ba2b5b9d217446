import { loadFleet } from '@gantry/proto/load';
import { startTestApi, type TestApi } from '@gantry/testkit/api/test-api';
import { finishRule } from '@gantry/testkit/make/finished';
import { makeTenant, type TestTenant } from '@gantry/testkit/make/tenants';
import { afterAll, beforeAll, expect, it } from 'vitest';

/** A rule of the largest size: 64 endpoints and 64 ranges of ports on each side. */
const LARGEST = {
  sources: many((i) => ({ cidr: `198.51.100.${100 + i}/32` })),
  destinations: many((i) => ({ cidr: `203.0.113.1${10 + (i % 90)}/32` })),
  source_ports: many((i) => `${10_000 + i}-${20_000 + i}`),
  destination_ports: many((i) => `${30_000 + i}-${40_000 + i}`),
};
const LARGEST_BYTES = 4_352;
const MAX_BYTES = 524_288;

let api: TestApi;
let tenant: TestTenant;
beforeAll(async () => {
  api = await startTestApi();
  tenant = await makeTenant(api, 'acme');
});
afterAll(() => api.stop());

function many<T>(entry: (i: number) => T): T[] {
  return Array.from({ length: 64 }, (_, i) => entry(i));
}

const call = (method: string, path: string, body?: unknown) =>
  api.call(method, `/projects/${tenant.projectId}/vpc${path}`, {
    bearer: tenant.accessKey,
    ...(body === undefined ? {} : { body }),
  });

async function makeNetwork(name: string, cidr: string): Promise<string> {
  return (await call('POST', '/networks', { name, cidr })).body.id;
}

let names = 0;
const createRule = (networkId: string, members: object) =>
  call('POST', '/firewall-rules', {
    ...{ name: `rule-${++names}`, vpc_network_id: networkId, action: 'allow' },
    ...{ direction: 'ingress', protocols: ['tcp', 'udp', 'icmp'], sources: [], destinations: [] },
    ...members,
  });

const bytesOf = async (networkId: string): Promise<number> => {
  const [row] = await api.sql<{ bytes: number }[]>`
    select coalesce(sum(firewall_rule_bytes(r)), 0)::float8 as bytes from firewall_rules r
    where network_id = ${networkId} and desired_state = 'present'`;
  return row?.bytes ?? 0;
};

it('concurrent creations of rules never exceed the size limit of their network', async () => {
  const networkId = await makeNetwork('full', '10.1.0.0/16');
  const fits = Math.floor(MAX_BYTES / LARGEST_BYTES);
  const replies = await Promise.all(
    Array.from({ length: fits + 12 }, () => createRule(networkId, LARGEST)),
  );
  expect(replies.filter(({ status }) => status === 200)).toHaveLength(fits);
  const refused = replies.filter(({ status }) => status === 422);
  expect(refused).toHaveLength(12);
  for (const { body } of refused) {
    expect(body).toMatchObject({
      code: 'quota_exceeded',
      details: {
        ...{ type: 'firewall_rule_bytes', max: MAX_BYTES, used: fits * LARGEST_BYTES },
        ...{ requested: LARGEST_BYTES, field: 'sources' },
      },
    });
    expect(body.message).toContain('sources: the firewall rules of one network');
  }
  expect(await bytesOf(networkId)).toBe(fits * LARGEST_BYTES);
});

it('a change that exceeds the size limit is refused and changes nothing', async () => {
  const networkId = await makeNetwork('changed', '10.2.0.0/16');
  const most = Math.floor(MAX_BYTES / LARGEST_BYTES);
  const small = await createRule(networkId, { destination_ports: ['22'] });
  const replies = await Promise.all(
    Array.from({ length: most }, () => createRule(networkId, LARGEST)),
  );
  const ids = [small, ...replies].map(({ body }) => body.operation.metadata.id);
  for (const id of ids) await finishRule(api.sql, id);
  const path = `/firewall-rules/${ids[0]}`;
  const before = (await call('GET', path)).body;
  const grown = await call('PATCH', path, LARGEST);
  expect(grown.body).toMatchObject({
    code: 'quota_exceeded',
    details: { type: 'firewall_rule_bytes', field: 'sources' },
  });
  expect((await call('GET', path)).body).toEqual(before);

  // What does not grow is accepted, and a rule that is being deleted makes room.
  expect((await call('PATCH', path, { destination_ports: ['23'] })).status).toBe(200);
  await finishRule(api.sql, ids[0]);
  expect((await call('DELETE', `/firewall-rules/${ids[1]}`)).status).toBe(200);
  expect((await call('PATCH', path, LARGEST)).status).toBe(200);
});

it('the size that is counted is at least the size in the message to a host', async () => {
  const wire = loadFleet().service.Attach.responseSerialize({
    firewallRules: [
      {
        ...{ id: tenant.projectId, networkId: tenant.projectId },
        ...{ direction: 'DIRECTION_EGRESS', action: 'ACTION_DENY' },
        protocols: ['tcp', 'udp', 'icmp'],
        sources: many(() => '255.255.255.255/32'),
        destinations: many(() => '255.255.255.255/32'),
        sourcePorts: many(() => '10000-65535'),
        destinationPorts: many(() => '10000-65535'),
      },
    ],
  });
  expect(wire.length).toBeLessThanOrEqual(LARGEST_BYTES);
  expect(wire.length).toBeGreaterThan(LARGEST_BYTES - 64);
});
