import { insertCapacitySample } from '@gantry/db/queries/operators/fleet-gpus';
import { startTestApi, type TestApi } from '@gantry/testkit/api/test-api';
import { failOperation } from '@gantry/testkit/make/finished';
import { addHost, addHosts, type TestHost } from '@gantry/testkit/make/hosts';
import { placeVm } from '@gantry/testkit/make/placements';
import { makeTenant, makeUser, type TestTenant, type TestUser } from '@gantry/testkit/make/tenants';
import { addVms } from '@gantry/testkit/make/vms';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

let api: TestApi;
let tenant: TestTenant;
let operator: TestUser;

beforeAll(async () => {
  api = await startTestApi();
  tenant = await makeTenant(api, 'acme');
  operator = await makeUser(api, 'operator@gantry.test', { operator: true });
});
afterAll(() => api.stop());
beforeEach(async () => {
  await api.sql`truncate hosts, vms, operations, capacity_samples cascade`;
});

const admin = (path: string) => api.call('GET', `/admin${path}`, { bearer: operator.token });
const patch = (hostId: string, body: unknown) =>
  api.call('PATCH', `/admin/hosts/${hostId}`, { bearer: operator.token, body });

/** Returns a VM that has some GPUs of the host. */
async function sell(host: TestHost, gpus: number[]): Promise<string> {
  const [vmId = ''] = await addVms(api.sql, 1, { projectId: tenant.projectId });
  const devices = gpus.map((gpu) => host.gpuIds[gpu] ?? '');
  await placeVm(api.sql, { vmId, hostId: host.id, devices });
  return vmId;
}
const block = (host: TestHost, gpu: number, columns: object) =>
  api.sql`update devices set ${api.sql(columns)} where id = ${host.gpuIds[gpu] ?? ''}`;

describe('the fleet', () => {
  it('has each GPU with its state and its holder', async () => {
    const host = await addHost(api.sql, { name: 'gpu-1', gpus: 8, nodes: 2 });
    await api.sql`update devices set pcie_switch = 'sw' || numa_node where kind = 'gpu'`;
    const running = await sell(host, [0, 1]);
    const stopped = await sell(host, [2]);
    await api.sql`update vms set desired_state = 'stopped' where id = ${stopped}`;
    await block(host, 4, { state: 'quarantined' });
    await block(host, 5, { quarantine_reason: 'fan' });
    await block(host, 6, { problems: [{ severity: 'block' }] });
    const { body } = await admin('/fleet');
    const address = (slot: number) => `0000:${(16 + slot).toString(16)}:00.0`;
    expect(body.hosts).toEqual([
      {
        ...{ id: host.id, name: 'gpu-1', location: 'eu-north-a', rack: '', state: 'ready' },
        ...{ admin_state: 'active', closed_reason: '' },
        gpus: [
          {
            ...{ numa_node: 0, pcie_switch: 'sw0', model: 'A40 48GB PCIe' },
            addresses: [0, 1, 2, 3].map(address),
            states: ['sold', 'sold', 'cleaning', 'free'],
            vms: [0, 0, 1, -1],
          },
          {
            ...{ numa_node: 1, pcie_switch: 'sw1', model: 'A40 48GB PCIe' },
            addresses: [4, 5, 6, 7].map(address),
            states: ['blocked', 'blocked', 'blocked', 'free'],
            vms: [-1, -1, -1, -1],
          },
        ],
        vms: [running, stopped].map((id) => ({ id, name: `vm-${id}` })),
      },
    ]);
  });

  it.each([
    [{ admin_state: 'cordoned' }, 'it is cordoned'],
    [{ admin_state: 'draining' }, 'it is draining'],
    [{ state: 'unreachable' }, 'it is unreachable'],
    [{ fenced_at: new Date(), state: 'fenced' }, 'it was declared dead'],
    [{ drift: ['one GPU less'] }, 'it has drifted from what an operator accepted'],
    [{ impairment: 'it does not reply' }, 'it does not reply'],
    [{ awaits_era: true }, 'it has not reported since the database lost commits'],
  ])('shows the free GPUs of a host with %j as blocked, and why', async (columns, reason) => {
    const host = await addHost(api.sql);
    await sell(host, [0]);
    await api.sql`update hosts set ${api.sql(columns)} where id = ${host.id}`;
    const [shown] = (await admin('/fleet')).body.hosts;
    expect(shown.closed_reason).toBe(reason);
    expect(shown.gpus.flatMap(({ states }: { states: string[] }) => states)).toEqual([
      ...['sold', 'blocked'],
    ]);
  });

  it('is limited to a location or to hosts', async () => {
    const [first, second] = await addHosts(api.sql, 2);
    await addHosts(api.sql, 1, { location: 'us-east-a' });
    const ids = async (query: string) =>
      (await admin(`/fleet${query}`)).body.hosts.map(({ id }: { id: string }) => id);
    expect(await ids('')).toHaveLength(3);
    expect(await ids('?location=us-east-a')).toHaveLength(1);
    expect(await ids(`?host_ids=${second?.id}`)).toEqual([second?.id]);
    expect(await ids(`?host_ids=${first?.id}&location=us-east-a`)).toEqual([]);
  });

  it('of 2,000 hosts and 16,000 GPUs would have less than 1.5 MB', async () => {
    await addHosts(api.sql, 100, { gpus: 8, nodes: 2 });
    await api.sql`update hosts set labels = '{"rack": "hall-1-r07"}'`;
    await api.sql`update devices set pcie_switch = '0000:0f:00.0'`;
    const bytes = JSON.stringify((await admin('/fleet')).body).length;
    expect(bytes * 20).toBeLessThan(1.5e6);
  });
});

describe('the summary of the fleet', () => {
  it('counts GPUs by location, model and state, hosts, and failed operations', async () => {
    const [whole, part] = await addHosts(api.sql, 2, { gpus: 4 });
    await addHosts(api.sql, 1, { gpus: 2, model: 'H100', location: 'us-east-a' });
    if (!whole || !part) throw new Error('BUG: two hosts were made');
    const vmId = await sell(part, [0]);
    await failOperation(api.sql, vmId);
    await block(part, 1, { quarantine_reason: 'fan' });
    await api.sql`update hosts set state = 'unreachable' where location = 'us-east-a'`;
    const a40 = { location: 'eu-north-a', model: 'A40 48GB PCIe' };
    const gpus = [
      { ...a40, free: 6, sold: 1, cleaning: 0, blocked: 1, free_on_whole_hosts: 4 },
      {
        ...{ location: 'us-east-a', model: 'H100', free: 0, sold: 0, cleaning: 0, blocked: 2 },
        free_on_whole_hosts: 0,
      },
    ];
    expect((await admin('/fleet/summary')).body).toEqual({
      ...{ gpus, hosts: 3, hosts_lost: 1, hosts_cordoned: 0, hosts_drifted: 0 },
      ...{ hosts_troubled: 0, failed_operations: 1 },
    });
  });
});

describe('the history of the capacity', () => {
  const history = async (query = '') => (await admin(`/capacity-history${query}`)).body.items;

  it('has one sample of five minutes, however many schedulers store it', async () => {
    await addHosts(api.sql, 2, { gpus: 4 });
    await Promise.all([insertCapacitySample(api.sql), insertCapacitySample(api.sql)]);
    await insertCapacitySample(api.sql);
    const rows = await api.sql`select distinct at from capacity_samples`;
    expect(await history()).toHaveLength(rows.length);
    expect((await history())[0]).toMatchObject({
      ...{ location: 'eu-north-a', model: 'A40 48GB PCIe', free: 8, free_on_whole_hosts: 8 },
    });
    expect(await history('?model=H100')).toEqual([]);
  });

  it('of a long time has no more than 300 points', async () => {
    await api.sql`insert into capacity_samples
      select date_bin('5 minutes', now(), 'epoch') - n * interval '5 minutes', 'eu-north-a', 'H100', n, 0, 0, 0, 0
      from generate_series(0, 8 * 288) n`;
    expect((await history()).length).toBeGreaterThanOrEqual(288);
    const week = await history('?hours=168');
    expect(week.length).toBeGreaterThan(250);
    expect(week.length).toBeLessThanOrEqual(301);
    expect(week[0].free).toBeGreaterThan(week.at(-1).free);
  });

  it.each(['0', '-1', '2161', '1.5', 'x', ''])('refuses hours=%s', async (hours) => {
    expect((await admin(`/capacity-history?hours=${hours}`)).status).toBe(400);
  });
});

describe('the labels of a host', () => {
  it('are replaced, and place it in a rack of the fleet', async () => {
    const host = await addHost(api.sql);
    await patch(host.id, { labels: { rack: 'r1', row: 'b' } });
    expect((await patch(host.id, { labels: { rack: 'r7' } })).body.labels).toEqual({ rack: 'r7' });
    expect((await admin('/fleet')).body.hosts[0].rack).toBe('r7');
    expect((await admin(`/hosts/${host.id}`)).body.labels).toEqual({ rack: 'r7' });
  });

  it.each([
    ['labels', {}],
    ['labels.rack', { labels: { rack: 7 } }],
    ['labels._a', { labels: { _a: 'x' } }],
    ['name', { labels: {}, name: 'other' }],
  ])('are refused with %s, and nothing changes', async (field, body) => {
    const host = await addHost(api.sql);
    const { status, body: reply } = await patch(host.id, body);
    expect(status).toBe(400);
    expect(reply.details[0].field).toBe(field);
    expect((await admin(`/hosts/${host.id}`)).body.labels).toEqual({});
  });
});
