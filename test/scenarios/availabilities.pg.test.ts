import { type Fitting, readOffers } from '@gantry/db/queries/catalogue/availabilities';
import type { Lease } from '@gantry/db/queries/placement/leases';
import { writeAvailabilities } from '@gantry/scheduler/place/availabilities';
import { createHostCache, type HostCache } from '@gantry/scheduler/place/host-cache';
import { placePending } from '@gantry/scheduler/place/place-pending';
import { startTestApi, type TestApi } from '@gantry/testkit/api/test-api';
import { addHosts, type TestHost } from '@gantry/testkit/make/hosts';
import { unplaceVms } from '@gantry/testkit/make/placements';
import { holdLocation, makePlacer } from '@gantry/testkit/make/placers';
import { makeTenant, makeUser } from '@gantry/testkit/make/tenants';
import { addVms } from '@gantry/testkit/make/vms';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';

/**
 * Tests what clients see of available types: operators change hosts, a placer computes, a tenant
 * reads.
 */
let api: TestApi;
let projectId: string;
let accessKey: string;
let operatorToken: string;
let lease: Lease;
let hostCache: HostCache;
let written: Map<string, Fitting>;

beforeAll(async () => {
  api = await startTestApi();
  ({ projectId, accessKey } = await makeTenant(api, 'acme'));
  operatorToken = (await makeUser(api, 'operator@gantry.test', { operator: true })).token;
});
afterAll(() => api.stop());

async function write(
  given: Pick<Parameters<typeof writeAvailabilities>[0], 'lease' | 'index' | 'written'>,
): Promise<boolean> {
  const [offer] = await readOffers(api.sql, [given.lease.location]);
  return await writeAvailabilities({ sql: api.sql, types: offer?.types ?? [], ...given });
}

/** Returns the available types of one GPU model in a location, after its placer has run. */
async function available(location = 'eu-north-a', prefix = 'a40.'): Promise<string[]> {
  await hostCache.refresh();
  expect(await write({ lease, index: hostCache.index, written })).toBe(true);
  const path = `/projects/${projectId}/availabilities?location=${location}`;
  const { body } = await api.call('GET', path, { bearer: accessKey });
  return body.items.flatMap((item: { type: string; available: boolean }) =>
    item.available && item.type.startsWith(prefix) ? [item.type] : [],
  );
}

const admin = async (path: string, body?: unknown) => {
  const { status } = await api.call('POST', `/admin/${path}`, { bearer: operatorToken, body });
  expect(status).toBe(200);
};

describe('a type', () => {
  let host: TestHost;
  const FOUR = ['a40.1x', 'a40.2x', 'a40.4x'];

  beforeEach(async () => {
    lease = await holdLocation(api.sql);
    hostCache = createHostCache({ sql: api.sql, location: lease.location });
    written = new Map();
    expect(await available()).toEqual([]);
    [host = { id: '', name: '', gpuIds: [], driveIds: [] }] = await addHosts(api.sql, 1, {
      gpus: 4,
      nodes: 2,
    });
    expect(await available()).toEqual(FOUR);
  });
  afterEach(async () => {
    await api.sql`delete from device_claims`;
    await api.sql`delete from placements`;
    await api.sql`delete from hosts`;
  });

  it('is available if one host has enough free GPUs, and not if only two hosts together have them', async () => {
    await addHosts(api.sql, 1, { gpus: 4 });
    expect(await available()).toEqual(FOUR);
    await addHosts(api.sql, 1, { gpus: 8, nodes: 2 });
    expect(await available()).toEqual([...FOUR, 'a40.8x']);
  });

  it('is counted by what the hosts have free, and has a reason when none fits', async () => {
    const path = `/projects/${projectId}/availabilities?location=eu-north-a`;
    const counts = async () => {
      await available();
      const { body } = await api.call('GET', path, { bearer: accessKey });
      return body.items.slice(0, 4).map((item: { count: number; reason: string }) => item);
    };
    expect(await counts()).toMatchObject([
      ...[{ count: 4 }, { count: 2 }, { count: 1 }],
      { count: 0, reason: expect.stringContaining('too few GPUs are free on one host') },
    ]);
    await addHosts(api.sql, 30, { gpus: 4 });
    expect(await counts()).toMatchObject([{ count: 100 }, { count: 62 }, { count: 31 }, {}]);
    await api.sql`update hosts set admin_state = 'cordoned'`;
    expect(await counts()).toMatchObject([
      { count: 0, reason: expect.stringContaining('no host for this type takes new VMs') },
      ...[{ count: 0 }, { count: 0 }, { count: 0 }],
    ]);
  });

  it('is available only in locations that have GPUs of its model', async () => {
    expect(await available('us-east-a')).toEqual([]);
    expect(await available('eu-north-a', 'a100')).toEqual([]);
  });

  it('is available only if the cores, memory and drives that it needs are free', async () => {
    const { sql } = api;
    await sql`update devices set state = 'missing' where kind = 'drive' and host_id = ${host.id} and numa_node = 0`;
    expect(await available()).toEqual(['a40.1x', 'a40.2x']);
    await sql`update hosts set numa_nodes = '[{"node": 1, "cores": 6, "memoryMib": 100000, "networkGbps": 400}]'`;
    expect(await available()).toEqual(['a40.1x']);
    await sql`update hosts set numa_nodes = '[{"node": 1, "cores": 5, "memoryMib": 100000, "networkGbps": 400}]'`;
    expect(await available()).toEqual([]);
  });

  it.each(['cordon', 'drain'])('is not available after a %s until it is undone', async (verb) => {
    await admin(`hosts/${host.id}:${verb}`);
    expect(await available()).toEqual([]);
    await admin(`hosts/${host.id}:uncordon`);
    expect(await available()).toEqual(FOUR);
  });

  it('does not count a GPU in quarantine until it is released', async () => {
    await admin(`devices/${host.gpuIds[0]}:quarantine`, { reason: 'Xid 79' });
    expect(await available()).toEqual(['a40.1x', 'a40.2x']);
    await admin(`devices/${host.gpuIds[0]}:release`);
    expect(await available()).toEqual(FOUR);
    for (const id of host.gpuIds) await admin(`devices/${id}:quarantine`, { reason: 'all' });
    expect(await available()).toEqual([]);
  });

  it('does not count a GPU that was not proven clean until an operator releases it', async () => {
    await api.sql`update devices set state = 'quarantined' where id = ${host.gpuIds[0] ?? ''}`;
    expect(await available()).toEqual(['a40.1x', 'a40.2x']);
    await admin(`devices/${host.gpuIds[0]}:release`);
    expect(await available()).toEqual(FOUR);
  });

  it('does not count a GPU that a VM has until it is free again', async () => {
    const vmIds = await addVms(api.sql, 3, { projectId });
    expect(await placePending(makePlacer(api.sql, lease))).toMatchObject({ placed: 3 });
    expect(await available()).toEqual(['a40.1x']);
    await unplaceVms(api.sql, vmIds);
    expect(await available()).toEqual(FOUR);
    await api.sql`update vms set desired_state = 'deleted'`;
  });

  it.each(['unreachable', 'fenced'])(
    'does not count the GPUs of a host that is %s',
    async (state) => {
      await api.sql`update hosts set state = ${state} where id = ${host.id}`;
      expect(await available()).toEqual([]);
    },
  );

  it('is not updated by a placer that lost its lease', async () => {
    const { sql } = api;
    const [late, index] = [lease, hostCache.index];
    lease = await holdLocation(sql);
    await admin(`hosts/${host.id}:cordon`);
    expect(await available()).toEqual([]);
    expect(await write({ lease: late, index, written: new Map() })).toBe(false);
    expect(await available()).toEqual([]);
  });
});
