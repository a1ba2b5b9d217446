import { newId } from '@gantry/model/ids';
import { startTestApi, type TestApi } from '@gantry/testkit/api/test-api';
import { addHost, type TestHost } from '@gantry/testkit/make/hosts';
import { makeUser, type TestUser } from '@gantry/testkit/make/tenants';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let api: TestApi;
let operator: TestUser;
let host: TestHost;
let cordoned: TestHost;
let elsewhere: TestHost;

beforeAll(async () => {
  api = await startTestApi();
  operator = await makeUser(api, 'operator@gantry.test', { operator: true });
  host = await addHost(api.sql, { name: 'host-1', gpus: 4 });
  cordoned = await addHost(api.sql, { name: 'host-2', gpus: 4 });
  elsewhere = await addHost(api.sql, { name: 'host-3', location: 'us-east-a' });
  const nodes = [0, 1].map((node) => ({ node, cores: 24, memoryMib: 245_760, networkGbps: 100 }));
  await api.sql`update hosts set numa_nodes = ${api.sql.json(nodes)}`;
  await api.sql`update devices g set iommu_group = n from (select id,
    row_number() over (partition by host_id order by pci_address) as n from devices where kind = 'gpu') o where o.id = g.id`;
  await api.sql`update hosts set admin_state = 'cordoned' where id = ${cordoned.id}`;
});
afterAll(() => api.stop());

const explain = (body: unknown) =>
  api.call('POST', '/admin/placements:explain', { bearer: operator.token, body });
const everything = async () =>
  (
    await api.sql`select (select count(*) from placements) + (select count(*) from device_claims)
    + (select count(*) from vms) + (select count(*) from operations) as n`
  )[0]?.['n'];

describe('an explanation of placement', () => {
  it('shows the host and devices that a VM would get, and creates nothing', async () => {
    const { status, body } = await explain({ type: 'a40.2x', location: 'eu-north-a' });
    expect(status).toBe(200);
    expect(body.placement).toEqual({
      host_id: host.id,
      host_name: 'host-1',
      gpus: [
        { id: host.gpuIds[0], pci_address: '0000:10:00.0' },
        { id: host.gpuIds[1], pci_address: '0000:11:00.0' },
      ],
      drives: [
        { id: host.driveIds[0], pci_address: '0000:80:00.0' },
        { id: host.driveIds[1], pci_address: '0000:81:00.0' },
      ],
      numa_nodes: [{ node: 0, gpus: 2, cores: 12, memory_mib: 122_880, network_gbps: 50 }],
    });
    expect(body.filters.slice(0, 3)).toEqual([
      { filter: 'location', left: 2 },
      { filter: 'schedulable', left: 1 },
      { filter: 'gpu_model', left: 1 },
    ]);
    expect(body.hosts).toEqual([
      { host_id: host.id, name: 'host-1', fits: true, reason: '' },
      { host_id: cordoned.id, name: 'host-2', fits: false, reason: 'schedulable: it is cordoned' },
    ]);
    expect(await everything()).toBe('0');
  });

  it('names a drift of the host', async () => {
    await api.sql`update hosts set drift = '{kernel}' where id = ${host.id}`;
    const { body } = await explain({ type: 'a40.1x', location: 'eu-north-a', host_id: host.id });
    expect(body.hosts).toMatchObject([
      { fits: false, reason: 'schedulable: it has drifted from what an operator accepted' },
    ]);
    await api.sql`update hosts set drift = '{}' where id = ${host.id}`;
  });

  it('shows why no host fits, for each filter and each host', async () => {
    const { body } = await explain({ type: 'a40.8x', location: 'eu-north-a' });
    expect(body.placement).toMatchObject({ host_id: '', gpus: [], drives: [], numa_nodes: [] });
    expect(body.filters).toContainEqual({ filter: 'gpu_count', left: 0 });
    expect(body.hosts[0].reason).toBe(
      'gpu_count: 8 GPUs requested; 4 free, 0 claimed, 0 quarantined',
    );
  });

  it('covers only the named host, even in another location', async () => {
    const ask = (host_id: string) => explain({ type: 'a40.1x', location: 'eu-north-a', host_id });
    expect((await ask(cordoned.id)).body.hosts).toMatchObject([
      { host_id: cordoned.id, fits: false },
    ]);
    expect((await ask(cordoned.id)).body.placement).toMatchObject({ host_id: host.id });
    expect((await ask(elsewhere.id)).body.hosts).toEqual([
      ...[
        {
          host_id: elsewhere.id,
          name: 'host-3',
          fits: false,
          reason: 'location: the host is in us-east-a',
        },
      ],
    ]);
    expect((await ask(newId())).status).toBe(404);
  });

  it.each([
    ['unknown_type', { type: 'a41.1x', location: 'eu-north-a' }],
    ['unknown_location', { type: 'a40.1x', location: 'mars' }],
    ['type_not_in_location', { type: 'l40s-48gb.1x', location: 'us-east-a' }],
  ])('refuses with %s', async (code, body) => {
    await api.sql`delete from vm_type_locations where vm_type = 'l40s-48gb.1x' and location = 'us-east-a'`;
    const reply = await explain(body);
    expect([reply.status, reply.body.code]).toEqual([422, code]);
  });
});
